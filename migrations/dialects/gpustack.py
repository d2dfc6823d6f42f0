"""GPUStack models: `backend_parameters`, a list of arguments."""

from yaml.nodes import Node

from appliance.migrations.canonical import Deployment, ReleaseHint
from appliance.migrations.dialects.layers import span
from appliance.migrations.dialects.process import Reader
from appliance.migrations.dialects.yaml_dialect import YamlDialect
from appliance.migrations.dialects.yaml_scalar import decode
from appliance.migrations.dialects.yaml_tree import Tree, get, text_of, walk
from appliance.migrations.release import Release


def _certainty(tree: Tree) -> float:
    found = (get(mapping, "backend_parameters") for root in tree.roots for mapping in walk(root))
    return 0.9 if any(node is not None for node in found) else 0.0


def _read(tree: Tree, path: str) -> list[Deployment]:
    reader = Reader(tree.layer)
    found = []
    for root in tree.roots:
        for mapping in walk(root):
            if (
                get(mapping, "backend_parameters") is None
                or "vllm" not in (text_of(get(mapping, "backend")) or "vllm").lower()
            ):
                continue
            model = next((text_of(get(mapping, key)) for key in _MODELS if text_of(get(mapping, key))), None)
            label = text_of(get(mapping, "name"))
            hint = _hint(reader, get(mapping, "backend_version"))
            found += reader.process(mapping, label, ("backend_parameters",), model=model, certain=True, hint=hint)
    return found


_MODELS = ("huggingface_repo_id", "model_scope_model_id", "local_path")


def _hint(reader: Reader, node: Node | None) -> ReleaseHint | None:
    inlay = decode(reader.layer, node) if node is not None else None
    known = Release.parse(inlay.text) if inlay else None
    return ReleaseHint(inlay.text, known, span(inlay, 0, len(inlay.text)), "backend_version") if inlay else None


dialect = YamlDialect("gpustack", _certainty, _read, needs="backend_parameters")
