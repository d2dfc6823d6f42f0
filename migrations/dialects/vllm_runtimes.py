"""The VLLMRuntime of the production stack's operator: options in `model` and `vllmConfig`, or beside them in `spec`."""

from dataclasses import replace

from yaml.nodes import MappingNode, Node, SequenceNode

from appliance.migrations.argv import name_of
from appliance.migrations.canonical import Deployment, Entrypoint, OptionSite
from appliance.migrations.catalogue import catalogue
from appliance.migrations.dialects.arg_list import ArgList, read_items
from appliance.migrations.dialects.containers import object_name
from appliance.migrations.dialects.option_keys import Flavor, OptionKeys, dashed
from appliance.migrations.dialects.process import Reader
from appliance.migrations.dialects.wishes import Homes
from appliance.migrations.dialects.yaml_tree import entries, get, text_of
from appliance.migrations.values import as_bool

_NAMES = {"enableLoRA": "enable-lora", "enableTool": "enable-auto-tool-choice"}
_GENERATION = {"v1": "VLLM_USE_V1"}
# a template itself, where the option wants its path
_OTHERS = frozenset({"chatTemplate"})


def read_runtime(reader: Reader, node: MappingNode) -> list[Deployment]:
    """One engine, or those for prefill and decode."""
    spec = get(node, "spec")
    parts = [(key.value, value) for key, value in entries(get(spec, "topology"))]
    if not parts and spec is not None:
        parts = [("", spec)]
    name = object_name(node)
    return [
        _engine(reader, f"{name}-{part}" if part else name, body)
        for part, body in parts
        if isinstance(body, MappingNode)
    ]


def _engine(reader: Reader, label: str, body: MappingNode) -> Deployment:
    config = get(body, "vllmConfig")
    config = config if isinstance(config, MappingNode) else body
    around = reader.variables(get(config, "env"))
    shared = frozenset([id(around.sink)] if around.shared else [])
    borrowed = reader.borrowed(config)
    extra = get(config, "extraArgs")
    home: ArgList | None = None
    if isinstance(extra, SequenceNode):
        home = ArgList(reader.layer, read_items(reader.layer, extra), extra)
        shared |= frozenset([id(home)] if borrowed else [])
    keys = _keys(reader, config, home, "extraArgs" if extra is None else "")
    sites = [*around.sites, *map(_generation, keys.sites(borrowed))]
    model = get(body, "model")
    if isinstance(model, MappingNode):
        sites += _keys(reader, model, home or keys).sites(reader.borrowed(model))
    sites += home.sites(borrowed, model=False) if home else []
    image = get(body, "deploymentConfig", "image", "name") or get(body, "image", "name")
    return Deployment(
        tuple(sites),
        Entrypoint.PLATFORM,
        label,
        text_of(get(model, "modelURL")) or None,
        reader.hint(image),
        takes_env=around.sink is not None,
        handle=Homes(home or keys, around.sink, shared),
    )


def _keys(reader: Reader, node: MappingNode, spill: ArgList | OptionKeys | None, new_list: str = "") -> OptionKeys:
    """The keys that say something, and are options."""
    skipped = frozenset(key.value for key, value in entries(node) if not _says(key.value, value))
    return OptionKeys(reader.layer, node, Flavor.CHART, skipped, _GENERATION, spill, new_list, _NAMES)


def _says(key: str, value: Node) -> bool:
    if key in _GENERATION:
        return True
    known = _NAMES.get(key) or name_of("--" + dashed(key)).name
    return known in catalogue().options and key not in _OTHERS and text_of(value) != ""


def _generation(site: OptionSite) -> OptionSite:
    return site if site.kind == "option" else replace(site, value="1" if as_bool(site.raw_value) else "0")
