"""NVIDIA Dynamo's graphs: services or components, those that are workers with an engine each."""

from collections.abc import Sequence

from yaml.nodes import MappingNode, Node

from appliance.migrations.canonical import Deployment
from appliance.migrations.dialects.containers import object_name
from appliance.migrations.dialects.process import Reader
from appliance.migrations.dialects.yaml_tree import entries, get, items, text_of, walk


def read_graph(reader: Reader, node: MappingNode) -> list[Deployment]:
    spec = get(node, "spec")
    parts = [(key.value, value) for key, value in entries(get(spec, "services"))]
    parts += [(text_of(get(item, "name")), item) for item in items(get(spec, "components"))]
    if not parts and spec is not None:
        parts = [(object_name(node), spec)]
    whole = get(spec, "envs") or get(spec, "env")
    return [found for label, part in parts for found in _part(reader, label, part, whole)]


def _part(reader: Reader, label: str, part: Node, whole: Node | None) -> list[Deployment]:
    """whole: the variables that every part gets."""
    around = (get(part, "envs"), whole) if whole is not get(part, "envs") else (whole,)
    main = get(part, "extraPodSpec", "mainContainer")
    found = [] if main is None else _container(reader, label, main, around)
    for mapping in walk(part):
        for container in items(get(mapping, "containers")):
            found += _container(reader, label, container, around)
    return found


def _container(reader: Reader, label: str, node: Node, around: Sequence[Node | None]) -> list[Deployment]:
    return reader.process(node, label, around=around)
