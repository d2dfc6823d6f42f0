"""Values of the vLLM production-stack chart: `servingEngineSpec.modelSpec`, each with a `vllmConfig`."""

from dataclasses import replace

from yaml.nodes import MappingNode, Node, SequenceNode

from appliance.migrations.canonical import Deployment, Entrypoint, OptionSite
from appliance.migrations.dialects.arg_list import ArgList, read_items
from appliance.migrations.dialects.option_keys import Flavor, OptionKeys
from appliance.migrations.dialects.process import Reader, chart_hint
from appliance.migrations.dialects.wishes import Homes
from appliance.migrations.dialects.yaml_dialect import YamlDialect
from appliance.migrations.dialects.yaml_tree import Tree, entries, get, items, text_of
from appliance.migrations.values import as_bool

# Keys of the chart's own; v0 and v1 choose a generation of the engine through VLLM_USE_V1.
_OWN = frozenset({"extraArgs", "prometheusMultiprocDir"})
_GENERATION = {"v1": "VLLM_USE_V1", "v0": "VLLM_USE_V1"}
_SECRETS = {"hf_token": "HF_TOKEN", "vllmApiKey": "VLLM_API_KEY"}


def _specs(root: Node) -> list[Node]:
    return items(get(root, "servingEngineSpec", "modelSpec"))


def _certainty(tree: Tree) -> float:
    return 0.95 if any(_specs(root) for root in tree.roots) else 0.0


def _read(tree: Tree, path: str) -> list[Deployment]:
    reader = Reader(tree.layer)
    return [
        _deployment(reader, spec, get(root, "servingEngineSpec"))
        for root in tree.roots
        for spec in _specs(root)
        if isinstance(spec, MappingNode)
    ]


def _deployment(reader: Reader, spec: MappingNode, above: Node | None) -> Deployment:
    config = get(spec, "vllmConfig")
    around = reader.variables(get(spec, "env"))
    sites: list[OptionSite] = [*around.sites, *_secrets(reader, spec), *_secrets(reader, above)]
    shared = frozenset([id(around.sink)] if around.shared else [])
    home: ArgList | None = None
    keys: OptionKeys | None = None
    if isinstance(config, MappingNode):
        borrowed = reader.borrowed(config)
        extra = get(config, "extraArgs")
        if isinstance(extra, SequenceNode):
            home = ArgList(reader.layer, read_items(reader.layer, extra), extra)
            shared |= frozenset([id(home)] if borrowed else [])
        new_list = "extraArgs" if extra is None else ""
        keys = OptionKeys(reader.layer, config, Flavor.CHART, _OWN, _GENERATION, home, new_list)
        sites += map(_generation, keys.sites(borrowed))
        sites += home.sites(borrowed, model=False) if home else []
    return Deployment(
        tuple(sites),
        Entrypoint.PLATFORM,
        text_of(get(spec, "name")),
        text_of(get(spec, "modelURL")) or None,
        chart_hint(reader, spec),
        takes_options=(home or keys) is not None,
        takes_env=around.sink is not None,
        handle=Homes(home or keys, around.sink, shared),
    )


def _generation(site: OptionSite) -> OptionSite:
    if site.kind == "option":
        return site
    said = as_bool(site.raw_value)
    return replace(site, value="1" if said == (site.raw_name == "v1") else "0")


def _secrets(reader: Reader, node: Node | None) -> list[OptionSite]:
    if not isinstance(node, MappingNode):
        return []
    others = frozenset(key.value for key, value in entries(node) if key.value not in _SECRETS or not text_of(value))
    return OptionKeys(reader.layer, node, Flavor.CHART, others, _SECRETS).sites(reader.borrowed(node))


dialect = YamlDialect("production-stack", _certainty, _read, needs="modelSpec")
