"""Truss (Baseten): a start command for the engine's image, or keyword arguments under `vllm_config`."""

from yaml.nodes import MappingNode

from appliance.migrations.canonical import Deployment, Entrypoint
from appliance.migrations.dialects.option_keys import Flavor, OptionKeys
from appliance.migrations.dialects.process import Reader
from appliance.migrations.dialects.ray_configs import requirement
from appliance.migrations.dialects.wishes import Homes
from appliance.migrations.dialects.yaml_dialect import YamlDialect
from appliance.migrations.dialects.yaml_tree import Tree, get, text_of, walk

_CONFIGS = ("vllm_config", "vllm_kwargs", "engine_args", "engine_kwargs")


def _certainty(tree: Tree) -> float:
    for root in tree.roots:
        if get(root, "docker_server", "start_command") is not None:
            return 0.95
        metadata = get(root, "model_metadata")
        if metadata is not None and any(get(mapping, key) for mapping in walk(metadata) for key in _CONFIGS):
            return 0.95
    return 0.0


def _read(tree: Tree, path: str) -> list[Deployment]:
    reader = Reader(tree.layer)
    found = []
    for root in tree.roots:
        label = text_of(get(root, "model_name"))
        release = reader.hint(get(root, "base_image", "image")) or requirement(reader, get(root, "requirements"))
        env = get(root, "environment_variables")
        found += reader.texts([get(root, "docker_server", "start_command")], env, label, release=release)
        metadata = get(root, "model_metadata")
        if metadata is None:
            continue
        model = text_of(get(metadata, "repo_id")) or None
        for mapping in walk(metadata):
            for key in _CONFIGS:
                node = get(mapping, key)
                if isinstance(node, MappingNode):
                    around = reader.variables(env)
                    sink = OptionKeys(reader.layer, node, Flavor.KEYWORDS)
                    sites = (*around.sites, *sink.sites(reader.borrowed(node)))
                    homes = Homes(sink, around.sink)
                    found.append(Deployment(sites, Entrypoint.PYTHON, label, model, release, handle=homes))
    return found


dialect = YamlDialect("truss", _certainty, _read, needs="vllm")
