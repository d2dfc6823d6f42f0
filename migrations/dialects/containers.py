"""Containers wherever an object holds them, and Ray Serve's configuration beside them."""

from yaml.nodes import Node

from appliance.migrations.canonical import Deployment
from appliance.migrations.dialects import DialectError
from appliance.migrations.dialects.layers import Inlay, Layer
from appliance.migrations.dialects.process import Reader
from appliance.migrations.dialects.ray_configs import read_configs
from appliance.migrations.dialects.yaml_scalar import decode
from appliance.migrations.dialects.yaml_tree import Tree, get, items, text_of, tree_of, walk


def object_name(node: Node) -> str:
    """What the object is called."""
    return text_of(get(node, "metadata", "name"))


def read_containers(reader: Reader, root: Node, name: str = "") -> list[Deployment]:
    found = []
    for mapping in walk(root):
        for key in ("initContainers", "containers"):
            for container in items(get(mapping, key)):
                label = text_of(get(container, "name")) or name
                found += reader.process(container, label, model=_model(root))
        if get(mapping, "serveConfigV2") is not None:
            found += _ray(reader.layer, get(mapping, "serveConfigV2"))
    return found


def _model(node: Node) -> str | None:
    return text_of(get(node, "spec", "model", "name")) or text_of(get(node, "spec", "model", "uri")) or None


def _ray(layer: Layer, node: Node | None) -> list[Deployment]:
    inlay = decode(layer, node) if node is not None else None
    tree = inner_tree(inlay) if inlay else None
    return read_configs(tree) if tree else []


def inner_tree(inlay: Inlay) -> Tree | None:
    """YAML inside a text; None where it is something else."""
    try:
        return tree_of(inlay)
    except DialectError:
        return None
