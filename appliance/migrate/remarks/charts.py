"""What the production stack's chart and operator add: arguments that stand in their templates, not in the file."""

from collections.abc import Iterator

from yaml.nodes import MappingNode, Node, ScalarNode

from appliance.diagnostics import Severity
from appliance.migrations.change import Part
from appliance.migrations.dialects.manifests import objects
from appliance.migrations.dialects.yaml_tree import entries, file_tree, get, items, text_of
from appliance.migrations.values import as_bool

from ..finding import Finding
from .scene import Scene, remark

_SWITCHES = {"enableChunkedPrefill": "enable-chunked-prefill", "enablePrefixCaching": "enable-prefix-caching"}
_TOKENS = ("hf_token", "vllmApiKey")


def chart_remarks(scene: Scene, index: int) -> Iterator[Finding]:
    """With the first deployment, about all of them."""
    if index == 0 and scene.dialect == "vllm-runtime":
        for node in objects(file_tree(scene.text)):
            spec = get(node, "spec")
            for part in (spec, *(value for _, value in entries(get(spec, "topology")))):
                yield from _cache(scene, part, "lmCacheConfig", "operator")
    if index or scene.dialect != "production-stack":
        return
    off: dict[str, list[Node]] = {}
    for root in file_tree(scene.text).roots:
        above = get(root, "servingEngineSpec")
        yield from _tokens(scene, above)
        for spec in items(get(above, "modelSpec")):
            yield from _cache(scene, spec, "lmcacheConfig", "chart")
            yield from _tokens(scene, spec)
            for key, value in entries(get(spec, "vllmConfig")):
                if key.value in _SWITCHES and as_bool(text_of(value)) is False:
                    off.setdefault(key.value, []).append(key)
    for name, (where, *others) in off.items():
        again = ", ".join(str(_place(scene, other)[0]) for other in others)
        subject = f"{name}: false" + (f" (also in line {again})" if others else "")
        fact = f"reaches the engine as --no-{_SWITCHES[name]} where the chart writes that; older charts drop `false`"
        way_out = "look with `helm template`; extraArgs can say it too"
        yield remark("VM0117", Severity.NOTE, subject, fact, way_out, _place(scene, where))


def _cache(scene: Scene, spec: Node | None, name: str, writer: str) -> Iterator[Finding]:
    config = get(spec, name)
    if not isinstance(config, MappingNode) or not as_bool(text_of(get(config, "enabled"))):
        return
    role = text_of(get(config, "kvRole")) or "kv_both"
    wanted = f'--kv-transfer-config {{"kv_connector": "LMCacheConnectorV1", "kv_role": "{role}"}}'
    nixl = " and the addresses of LMCACHE_NIXL_*" if get(config, "enableNixl") is not None else ""
    fact = f"the {writer} writes {wanted}{nixl}; the connector loads only with an LMCache made for the target"
    key = next(key for key, _ in entries(spec) if key.value == name)
    look = "`helm template`" if writer == "chart" else "the pod's arguments"
    way_out = f"compare {look} with that, and the image's LMCache with its release notes"
    yield remark("VM0117", Severity.NOTE, name, fact, way_out, _place(scene, key))


def _tokens(scene: Scene, node: Node | None) -> Iterator[Finding]:
    for key, value in entries(node):
        if key.value in _TOKENS and isinstance(value, ScalarNode) and value.value.startswith("<"):
            fact = "a token written here stands in the values file and its history"
            way_out = f"name a Secret: {key.value}: {{secretName: NAME, secretKey: KEY}}"
            yield remark("VM0021", Severity.WARNING, key.value, fact, way_out, _place(scene, key), Part.SECURITY)


def _place(scene: Scene, node: Node) -> tuple[int, int]:
    return scene.lines.at(node.start_mark.index + scene.text.startswith("\ufeff"))
