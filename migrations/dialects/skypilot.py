"""SkyPilot tasks and services: a script under `run`."""

from yaml.nodes import ScalarNode

from appliance.migrations.canonical import Deployment
from appliance.migrations.dialects.process import Reader
from appliance.migrations.dialects.ray_configs import requirement
from appliance.migrations.dialects.yaml_dialect import YamlDialect
from appliance.migrations.dialects.yaml_tree import Tree, get, text_of


def _certainty(tree: Tree) -> float:
    for root in tree.roots:
        keys = [key for key in ("resources", "setup", "envs", "num_nodes", "workdir", "service") if get(root, key)]
        if isinstance(get(root, "run"), ScalarNode) and keys:
            return 0.9
    return 0.0


def _read(tree: Tree, path: str) -> list[Deployment]:
    reader = Reader(tree.layer)
    found = []
    for root in tree.roots:
        image = get(root, "resources", "image_id")
        release = requirement(reader, get(root, "setup")) or reader.hint(image) or requirement(reader, get(root, "run"))
        label = text_of(get(root, "name"))
        found += reader.texts([get(root, "run")], get(root, "envs"), label, release=release)
    return found


dialect = YamlDialect("skypilot", _certainty, _read, needs="run:")
