"""Docker Compose: command and entrypoint as list or text, environment as mapping or list."""

import re

from yaml.nodes import MappingNode

from appliance.migrations.canonical import Deployment
from appliance.migrations.dialects.process import Reader
from appliance.migrations.dialects.yaml_dialect import YamlDialect
from appliance.migrations.dialects.yaml_tree import Tree, entries, get

_KEYS = ("image", "command", "build", "entrypoint", "environment", "deploy", "<<", "extends", "container_name")


def _certainty(tree: Tree) -> float:
    for root in tree.roots:
        services = get(root, "services")
        if get(root, "apiVersion") is not None or not isinstance(services, MappingNode):
            continue
        if any(get(service, key) for _, service in entries(services) for key in _KEYS):
            return 0.95
    return 0.0


def _read(tree: Tree, path: str) -> list[Deployment]:
    reader = Reader(tree.layer, path)
    found = []
    for root in tree.roots:
        for name, service in entries(get(root, "services")):
            files = get(service, "env_file")
            found += reader.process(service, name.value, ("entrypoint", "command"), "environment", files=files)
    return found


dialect = YamlDialect("compose", _certainty, _read, re.compile(r"^services:", re.MULTILINE))
