"""dstack services and tasks: `commands`, run one after another."""

from yaml.nodes import SequenceNode

from appliance.migrations.canonical import Deployment
from appliance.migrations.dialects.process import Reader
from appliance.migrations.dialects.ray_configs import requirement
from appliance.migrations.dialects.yaml_dialect import YamlDialect
from appliance.migrations.dialects.yaml_tree import Tree, get, items, text_of

_TYPES = ("service", "task", "dev-environment")


def _certainty(tree: Tree) -> float:
    for root in tree.roots:
        if text_of(get(root, "type")) in _TYPES and isinstance(get(root, "commands"), SequenceNode):
            return 0.95
    return 0.0


def _read(tree: Tree, path: str) -> list[Deployment]:
    reader = Reader(tree.layer)
    found = []
    for root in tree.roots:
        commands = items(get(root, "commands"))
        release = reader.hint(get(root, "image")) or requirement(reader, get(root, "commands"))
        model = text_of(get(root, "model")) or text_of(get(root, "model", "name")) or None
        label = text_of(get(root, "name"))
        found += reader.texts(commands, get(root, "env"), label, release=release, model=model)
    return found


dialect = YamlDialect("dstack", _certainty, _read)
