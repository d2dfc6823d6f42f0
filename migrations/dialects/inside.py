"""Changes inside the value of an option: keys of a JSON text, of a YAML mapping."""

from collections.abc import Iterable

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from appliance.migrations.canonical import Edit, Path, Plain
from appliance.migrations.dialects.layers import Layer, replaced
from appliance.migrations.dialects.yaml_edit import Changes, end_of, line_start, members
from appliance.migrations.dialects.yaml_scalar import decode, write_scalar
from appliance.migrations.dialects.yaml_tree import get
from appliance.migrations.dialects.yaml_write import block_text, flow_text, json_like
from appliance.migrations.operations import CannotEditError, Insert, Keep, Operation, Raw, Remove, Rewrite


def edit_inside(layer: Layer, root: Node, operations: Iterable[Operation]) -> list[Edit]:
    """Raises CannotEditError where a path leads nowhere."""
    changes: dict[int, Changes] = {}
    nested: dict[int, dict[str, Plain]] = {}
    edits: list[Edit] = []
    for operation in operations:
        if isinstance(operation, Remove):
            parent, index = _find(root, operation.path, operation)
            changes.setdefault(id(parent), Changes(layer, parent)).gone.add(index)
        elif isinstance(operation, Rewrite):
            parent, index = _find(root, operation.path, operation)
            key, value = parent.value[index]
            if not isinstance(operation.name, Keep):
                edits += rename_key(layer, key, operation.name)
            if not isinstance(operation.value, Keep):
                edits += set_value(layer, parent, value, operation.value, operation)
        elif isinstance(operation, Insert):
            parent, rest = _deepest(root, operation)
            made = nested.setdefault(id(parent), {})
            changes.setdefault(id(parent), Changes(layer, parent))
            for step in rest[:-1]:
                made = made.setdefault(step, {})  # type: ignore[assignment]
            made[rest[-1]] = known(operation.value, operation)
    for identity, change in changes.items():
        made = nested.get(identity, {})
        if made:
            change.new[len(change.parent.value) - 1] = [_entry(layer, change.parent, *pair) for pair in made.items()]
        edits += change.edits()
    return edits


def _entry(layer: Layer, parent: MappingNode | SequenceNode, key: str, value: Plain) -> str:
    if not parent.flow_style and parent.value:
        return block_text(key, value)
    quoted = json_like(layer, parent)
    name = f'"{key}"' if quoted else write_scalar(key, None, True)
    return f"{name}: {flow_text(value, quoted)}"


def known(value: object, operation: Operation) -> Plain:
    if isinstance(value, Raw):
        if not value.text:
            raise CannotEditError(operation, "its value comes from somewhere else")
        return value.text
    return value  # type: ignore[return-value]


def _find(root: Node, path: Path, operation: Operation) -> tuple[MappingNode, int]:
    parent = get(root, *path[:-1])
    if isinstance(parent, MappingNode):
        for index in range(len(parent.value) - 1, -1, -1):
            key = parent.value[index][0]
            if isinstance(key, ScalarNode) and key.value == path[-1]:
                return parent, index
    raise CannotEditError(operation, f"{'.'.join(path)} is not written here")


def _deepest(root: Node, operation: Insert) -> tuple[MappingNode, Path]:
    """The innermost mapping on the way that exists, and the steps still missing."""
    for depth in range(len(operation.path) - 1, -1, -1):
        node = get(root, *operation.path[:depth])
        if isinstance(node, MappingNode):
            return node, operation.path[depth:]
        if node is not None:
            break
    raise CannotEditError(operation, "there is no mapping to put it into")


def rename_key(layer: Layer, key: Node, name: str) -> list[Edit]:
    inlay = decode(layer, key)
    return replaced(inlay, 0, len(inlay.text), name) if inlay else []


def _block(layer: Layer, node: MappingNode | SequenceNode, value: Plain) -> Edit:
    """A new value in place of an indented one."""
    first = members(node)[0]
    start = first.first.start_mark.index
    end = end_of(layer, members(node)[-1].last)
    if isinstance(value, dict) and value and isinstance(node, MappingNode):
        gap = "\n" + " " * (start - line_start(layer.text, start))
        text = "\n".join(block_text(key, item) for key, item in value.items()).replace("\n", gap)
        return layer.edit(start, end, text)
    start = layer.text.rindex(":", 0, node.start_mark.index) + 1
    return layer.edit(start, end, " " + flow_text(value, False))


def set_value(layer: Layer, parent: MappingNode, node: Node, value: object, operation: Operation) -> list[Edit]:
    """A new value in place of the old one, in its quotes if both are texts."""
    new = known(value, operation)
    flow = bool(parent.flow_style)
    quoted = json_like(layer, parent)
    inlay = decode(layer, node)
    if isinstance(new, str) and inlay and isinstance(node, ScalarNode) and node.style in ("'", '"'):
        return replaced(inlay, 0, len(inlay.text), new)
    if isinstance(node, MappingNode | SequenceNode) and not node.flow_style and node.value:
        return [_block(layer, node, new)]
    text = flow_text(new, quoted) if quoted or not isinstance(new, str) else write_scalar(new, None, flow)
    start, end = node.start_mark.index, node.end_mark.index
    if isinstance(node, ScalarNode) and node.style in ("|", ">"):
        raise CannotEditError(operation, "its value is a block of its own")
    return [layer.edit(start, end, text if start < end else f" {text}")]
