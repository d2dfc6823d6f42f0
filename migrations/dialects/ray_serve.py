"""Ray Serve LLM configuration in YAML."""

from appliance.migrations.canonical import Deployment
from appliance.migrations.dialects.ray_configs import read_configs
from appliance.migrations.dialects.yaml_dialect import YamlDialect
from appliance.migrations.dialects.yaml_tree import Tree, get, walk


def _certainty(tree: Tree) -> float:
    for root in tree.roots:
        if get(root, "kind") is not None:
            return 0.0
        if any(get(mapping, "engine_kwargs") and get(mapping, "model_loading_config") for mapping in walk(root)):
            return 0.95
    return 0.0


def _read(tree: Tree, path: str) -> list[Deployment]:
    return read_configs(tree)


dialect = YamlDialect("ray-serve", _certainty, _read, needs="engine_kwargs")
