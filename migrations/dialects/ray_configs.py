"""Ray Serve LLM: `llm_configs`, each with `engine_kwargs`."""

from yaml.nodes import MappingNode, Node

from appliance.migrations.canonical import Deployment, Entrypoint, ReleaseHint
from appliance.migrations.dialects.env_reader import speaks
from appliance.migrations.dialects.layers import span
from appliance.migrations.dialects.option_keys import Flavor, OptionKeys
from appliance.migrations.dialects.process import Reader
from appliance.migrations.dialects.serving import pin_hint
from appliance.migrations.dialects.wishes import Homes
from appliance.migrations.dialects.yaml_scalar import decode
from appliance.migrations.dialects.yaml_tree import Tree, get, items, text_of, walk


def read_configs(tree: Tree) -> list[Deployment]:
    reader = Reader(tree.layer)
    found = []
    for root in tree.roots:
        for mapping in walk(root):
            if isinstance(get(mapping, "engine_kwargs"), MappingNode):
                found += _config(reader, mapping)
            elif get(mapping, "import_path") is not None:
                found += _application(reader, mapping)
    return found


def _application(reader: Reader, node: MappingNode) -> list[Deployment]:
    """The variables of an application, which all its replicas get."""
    variables = get(node, "runtime_env", "env_vars")
    if not speaks(reader.layer, variables):
        return []
    around = reader.variables(variables)
    shared = frozenset([id(around.sink)] if around.shared else [])
    label = text_of(get(node, "name"))
    homes = Homes(None, around.sink, shared)
    sites = tuple(around.sites)
    return [Deployment(sites, Entrypoint.PLATFORM, label, takes_options=False, handle=homes)] if sites else []


def _config(reader: Reader, node: MappingNode) -> list[Deployment]:
    kwargs = get(node, "engine_kwargs")
    if not isinstance(kwargs, MappingNode):
        return []
    loading = get(node, "model_loading_config")
    model = text_of(get(loading, "model_source")) or text_of(get(loading, "model_id")) or None
    sink = OptionKeys(reader.layer, kwargs, Flavor.KEYWORDS)
    borrowed = reader.borrowed(kwargs)
    runtime = get(node, "runtime_env")
    around = reader.variables(get(runtime, "env_vars"))
    shared = frozenset(id(s) for s, again in ((sink, borrowed), (around.sink, around.shared)) if again)
    return [
        Deployment(
            (*around.sites, *sink.sites(borrowed)),
            Entrypoint.PLATFORM,
            text_of(get(loading, "model_id")),
            model,
            requirement(reader, get(runtime, "pip")),
            takes_env=around.sink is not None,
            handle=Homes(sink, around.sink, shared),
        )
    ]


def requirement(reader: Reader, node: Node | None) -> ReleaseHint | None:
    """The engine's pin in a list of requirements, or in a text with one."""
    for item in items(node) or ([node] if node is not None else []):
        inlay = decode(reader.layer, item)
        hint = pin_hint(inlay.text, span(inlay, 0, len(inlay.text))) if inlay else None
        if hint:
            return hint
    return None
