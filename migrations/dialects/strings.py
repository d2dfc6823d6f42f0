"""String literals of programming languages as layers: escapes resolved, interpolations as `${v}`."""

from collections.abc import Sequence
from typing import Any

from appliance.migrations.dialects.layers import Inlay, Layer
from appliance.migrations.dialects.pieces import Piece
from appliance.migrations.dialects.trees import Tree

FILLED = "${v}"
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}


def literal(tree: Tree, nodes: Sequence[Any]) -> Piece:
    """The strings one after another, as one piece. Only for reading: nothing is written back into program text."""
    chars: list[str] = []
    begins: list[int] = []
    ends: list[int] = []
    opaque = False

    def put(text: str, start: int, end: int) -> None:
        for char in text:
            chars.append(char)
            begins.append(start)
            ends.append(end)

    for node in nodes:
        for part in _parts(node):
            start, end = tree.span(part)
            if part.type == "interpolation":
                opaque = True
                put(FILLED, start, end)
            elif part.type in ("escape_sequence", "dollar_escape"):
                put(_escaped(tree.text[start:end]), start, end)
            else:
                for at in range(start, end):
                    put(tree.text[at], at, at + 1)
    first, last = tree.span(nodes[0])[0], tree.span(nodes[-1])[1]
    return Piece(first, last, "".join(chars), begins, ends, '"' * len(chars), opaque)


def layer_of(layer: Layer, piece: Piece) -> Inlay:
    return Inlay(layer, piece.text, piece.begins or (), piece.ends or (), piece.start, lambda new, start, end: new)


def _parts(node: Any) -> list[Any]:
    """Contents, escapes and interpolations in order."""
    found: list[Any] = []
    stack = [node]
    while stack:
        current = stack.pop()
        kinds = ("escape_sequence", "dollar_escape", "interpolation")
        if current.type in kinds or (current.type.endswith(("_content", "_fragment")) and not current.named_children):
            found.append(current)
        elif current.type == "string_content":
            found += _content(current)
        else:
            stack += reversed(current.named_children)
    return found


class _Gap:
    """The plain characters between escapes, which the grammar gives no node of their own."""

    type = "string_content"

    def __init__(self, start: int, end: int) -> None:
        self.start_byte = start
        self.end_byte = end


def _content(node: Any) -> list[Any]:
    found: list[Any] = []
    at = node.start_byte
    for child in node.named_children:
        found += [_Gap(at, child.start_byte), child]
        at = child.end_byte
    return [*found, _Gap(at, node.end_byte)]


def _escaped(raw: str) -> str:
    if raw[:2] == "''":
        return raw[2:]
    if raw[1:2] in ("\n", "\r"):
        return ""
    return _SIMPLE.get(raw[1:2], raw[1:2]) if len(raw) == 2 else "?"
