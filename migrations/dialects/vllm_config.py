"""The engine's own YAML, `vllm serve --config FILE`: one key per option."""

from yaml.nodes import MappingNode, Node, ScalarNode

from appliance.migrations.argv import name_of
from appliance.migrations.canonical import Deployment, Entrypoint
from appliance.migrations.catalogue import catalogue
from appliance.migrations.dialects.layers import Layer
from appliance.migrations.dialects.option_keys import Flavor, OptionKeys
from appliance.migrations.dialects.serving import engine_keys, model_of
from appliance.migrations.dialects.wishes import Homes
from appliance.migrations.dialects.yaml_dialect import YamlDialect
from appliance.migrations.dialects.yaml_tree import Tree


def config(layer: Layer, node: MappingNode, label: str = "", borrowed: bool = False) -> Deployment:
    sink = OptionKeys(layer, node, Flavor.ENGINE)
    sites = tuple(sink.sites(borrowed))
    return Deployment(sites, Entrypoint.CONFIG, label, model_of(sites), takes_env=False, handle=Homes(sink))


def is_config(node: Node) -> float:
    """How surely a mapping is the engine's: most of its keys are options."""
    if not isinstance(node, MappingNode) or not node.value:
        return 0.0
    names = [key.value for key, _ in node.value if isinstance(key, ScalarNode)]
    known = sum(name_of("--" + name).name in catalogue().options for name in names)
    marked = engine_keys(names)
    if not marked and not (known == len(names) and known > 2):
        return 0.0
    return 0.9 if known * 2 > len(names) else 0.0


def _certainty(tree: Tree) -> float:
    return is_config(tree.roots[0]) if len(tree.roots) == 1 else 0.0


def _read(tree: Tree, path: str) -> list[Deployment]:
    return [config(tree.layer, root) for root in tree.roots if isinstance(root, MappingNode)]


dialect = YamlDialect("vllm-config", _certainty, _read)
