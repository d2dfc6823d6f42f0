"""New YAML text beside old: remarks, values on one line or several, JSON where the surroundings are JSON."""

import json
import re

from yaml.nodes import MappingNode, Node

from appliance.migrations.canonical import Edit, Plain
from appliance.migrations.dialects.layers import Inlay, Layer
from appliance.migrations.dialects.yaml_edit import Parent, line_start
from appliance.migrations.dialects.yaml_scalar import write_scalar

_JSON = re.compile(r"\s*(?:\[|\{(?![{%#]))")


def remark_member(layer: Layer, parent: Parent, node: Node, text: str) -> list[Edit]:
    """Above the member; in flow style, above the line where the collection begins."""
    return remark(layer, parent.start_mark.index if parent.flow_style else node.start_mark.index, text)


def remark(layer: Layer, at: int, text: str) -> list[Edit]:
    """A comment line above the line of `at`, unless it stands there already; JSON has no comments."""
    if _JSON.match(layer.text):
        return []
    # A template engine would look into the remark too.
    line = "# " + re.sub(r"(\{(?=[{%#])|[}%#](?=\}))", r"\1 ", " ".join(text.split()))
    line = "".join(character if character.isprintable() else "?" for character in line)
    start = line_start(layer.text, at)
    above = start
    while above:
        previous = line_start(layer.text, above - 1)
        written = layer.text[previous:above].strip()
        if written == line:
            return []
        if not written.startswith("#"):
            break
        above = previous
    indent = layer.text[start:at][: len(layer.text[start:at]) - len(layer.text[start:at].lstrip(" \t"))]
    return [layer.edit(start, start, f"{indent}{line}\n")]


def flow_text(value: Plain, quoted: bool) -> str:
    """A value on one line, keys in quotes where the surroundings are JSON."""
    if quoted or not isinstance(value, dict | list):
        return _scalar_text(value, quoted, True)
    if isinstance(value, dict):
        inner = ", ".join(f"{write_scalar(key, None, True)}: {flow_text(item, False)}" for key, item in value.items())
        return "{" + inner + "}"
    return "[" + ", ".join(flow_text(item, False) for item in value) + "]"


def block_text(key: str, value: Plain) -> str:
    """`key: value` in block style."""
    if isinstance(value, dict) and value:
        inner = "\n".join(block_text(name, item) for name, item in value.items())
        return f"{write_scalar(key, None)}:\n  " + inner.replace("\n", "\n  ")
    return f"{write_scalar(key, None)}: {flow_text(value, False) if value != [] else '[]'}"


def _scalar_text(value: Plain, quoted: bool, flow: bool) -> str:
    if quoted or not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return write_scalar(value, None, flow)


def json_like(layer: Layer, node: Node) -> bool:
    """Whether the keys of a flow mapping stand in double quotes; one without keys goes by its surroundings."""
    if not getattr(node, "flow_style", False):
        return False
    if isinstance(node, MappingNode) and node.value:
        return getattr(node.value[0][0], "style", None) == '"'
    return isinstance(layer, Inlay)
