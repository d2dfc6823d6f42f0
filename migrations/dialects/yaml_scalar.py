"""What a YAML scalar says, character by character where it stands, and how new text is written in its place."""

import re
from functools import lru_cache
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from appliance.migrations.canonical import UNKNOWN, Plain, Value
from appliance.migrations.dialects.layers import Inlay, Layer, LinesInlay
from appliance.migrations.dialects.yaml_tree import entries
from appliance.migrations.values import templated

_PROPERTIES = re.compile(r"(?:[&!][^\s,\[\]{}]*\s+)*")
_ESCAPES = dict(zip('0abtnvfre "/\\N_LP', '\0\a\b\t\n\v\f\r\x1b "/\\\x85\xa0\u2028\u2029', strict=True)) | {"\t": "\t"}
_HEX = {"x": 2, "u": 4, "U": 8}
_FOLD = re.compile(r"[ \t]*(\r?\n)[ \t]*((?:\r?\n[ \t]*)*)")
_MARGIN = re.compile(r"\n([ \t]*)[^ \t\r\n]")
_HEADER = re.compile(r"[|>][-+0-9]*[ \t]*(?:#[^\n]*)?\r?(?:\n|\Z)")
_LINE = re.compile(r"([^\n]*?)(\r?\n|\Z)")
# A value of more nodes than this is no engine option; aliases can unfold without end.
_LARGEST = 10_000

_resolver = yaml.SafeLoader("")


def content(layer: Layer, node: Node) -> int:
    """Where the node's own text starts, behind its anchor and tag."""
    start: int = node.start_mark.index
    found = _PROPERTIES.match(layer.text, start, node.end_mark.index)
    return found.end() if found else start


def decode(layer: Layer, node: Node) -> Inlay | None:
    """The scalar's text with templates as they are written; None where it cannot be followed character by character."""
    if not isinstance(node, ScalarNode):
        return None
    start = content(layer, node)
    end = node.end_mark.index
    if node.style in ("|", ">"):
        inlay = _block(layer, start, end, node.style)
    elif node.style in ("'", '"'):
        inlay = _flow(layer, start + 1, end - 1, node.style)
    else:
        inlay = _flow(layer, min(start, end), end, "")
    return inlay if inlay is not None and len(inlay.text) == len(_written(node)) else None


def _written(node: ScalarNode) -> str:
    return str(node.value)


def _flow(layer: Layer, start: int, end: int, quote: str) -> Inlay | None:
    raw = layer.text[start:end]
    if "\n" not in raw and not (quote == '"' and "\\" in raw) and not (quote == "'" and "''" in raw):
        return Inlay(layer, raw, range(start, end), range(start + 1, end + 1), start, _writer(quote))
    text: list[str] = []
    begins: list[int] = []
    ends: list[int] = []
    at = start
    while at < end:
        written, width = layer.text[at], 1
        found = _FOLD.match(layer.text, at, end) if written in " \t\r\n" else None
        if found:
            width = found.end() - at
            written = "\n" * found[2].count("\n") or " "
        elif quote == "'" and layer.text.startswith("''", at):
            width = 2
        elif quote == '"' and written == "\\":
            written, width = _escape(layer.text, at, end)
        if width <= 0:
            return None
        for index, character in enumerate(written):
            text.append(character)
            begins.append(at if index == 0 else at + width)
            ends.append(at + width)
        at += width
    return Inlay(layer, "".join(text), begins, ends, start, _writer(quote, _margin(raw)))


def _escape(text: str, at: int, end: int) -> tuple[str, int]:
    """The character and the width of its escape; width 0 for none that YAML knows."""
    mark = text[at + 1 : at + 2]
    if mark in _HEX:
        digits = text[at + 2 : at + 2 + _HEX[mark]]
        try:
            return chr(int(digits, 16)), 2 + len(digits)
        except (ValueError, OverflowError):
            return "", 0
    broken = re.compile(r"\\\r?\n[ \t]*").match(text, at, end)
    if broken:
        return "", broken.end() - at
    return (_ESCAPES[mark], 2) if mark in _ESCAPES else ("", 0)


def _margin(raw: str) -> str:
    """What stands in front of the lines that follow the first one."""
    found = _MARGIN.search(raw)
    return found[1] if found else ""


def _writer(quote: str, margin: str = "") -> Any:
    """margin: in front of every new line, which YAML folds into a blank."""
    if quote == "'":
        return lambda new, start, end: new.replace("'", "''").replace("\n", "\n" + margin)
    if quote == '"':
        return lambda new, start, end: new.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return lambda new, start, end: new.replace("\n", "\n" + margin)


def _block(layer: Layer, start: int, end: int, style: str) -> Inlay | None:
    header = _HEADER.match(layer.text, start)
    if header is None:
        return None
    lines = []
    at = header.end()
    while at < end:
        found = _LINE.match(layer.text, at)
        if found is None or found.end() == at:
            break
        lines.append((at, found[1], found.end() - at - len(found[1])))
        at = found.end()
    filled = [line for _, line, _ in lines if line.strip(" ")]
    if not filled:
        return None
    explicit = re.search(r"[1-9]", header.group().partition("#")[0])
    width = min(map(_indent, filled)) if explicit else _indent(filled[0])
    keep = "-" if "-" in header.group().partition("#")[0] else "+" if "+" in header.group() else ""
    while lines and keep != "+" and not lines[-1][1].strip(" "):
        lines.pop()
    text: list[str] = []
    begins: list[int] = []
    ends: list[int] = []
    for index, (begin, line, newline) in enumerate(lines):
        body = line[width:]
        text.extend(body)
        begins.extend(range(begin + width, begin + len(line)))
        ends.extend(range(begin + width + 1, begin + len(line) + 1))
        stop = begin + len(line)
        last = index + 1 == len(lines)
        if (last and keep == "-") or (last and not newline):
            continue
        joint = "\n" if style == "|" or last else _joint(lines, index, width)
        if joint:
            text.append(joint)
            begins.append(stop)
            ends.append(stop + newline + (0 if joint == "\n" else _indent(lines[index + 1][1])))
    indent = " " * width
    joined = "".join(text)
    if style == "|":
        return LinesInlay(layer, joined, begins, ends, header.end() + width, indent)
    return Inlay(layer, joined, begins, ends, header.end() + width, lambda new, s, e: new.replace("\n", "\n" + indent))


def _joint(lines: list[tuple[int, str, int]], index: int, width: int) -> str:
    """What folding makes of the break behind a line."""
    line, following = lines[index][1], lines[index + 1][1]
    if not line.strip(" "):
        return "\n"
    ahead = next((other for _, other, _ in lines[index + 1 :] if other.strip(" ")), "")
    if line[width : width + 1] in " \t" or ahead[width : width + 1] in (" ", "\t"):
        return "\n"
    return " " if following.strip(" ") else ""


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _tag(text: str) -> str:
    return str(_resolver.resolve(ScalarNode, text, (True, False))).rpartition(":")[2]  # type: ignore[no-untyped-call]


@lru_cache(maxsize=4096)
def plain_value(text: str) -> Plain:
    """What an unquoted scalar is to the YAML 1.1 loaders that read these files."""
    tag = _tag(text)
    if tag not in ("bool", "int", "float", "null"):
        return text
    try:
        value: Plain = yaml.load(text, Loader=yaml.CSafeLoader)
    except (yaml.YAMLError, ValueError):
        return text
    return value if isinstance(value, bool | int | float | None) else text


def value_of(layer: Layer, node: Node) -> Value:
    """The node as plain data; UNKNOWN when a template is part of it or it is not data."""
    try:
        return _value(layer, node, [_LARGEST], set())
    except _UnknownError:
        return UNKNOWN


class _UnknownError(Exception):
    pass


def _value(layer: Layer, node: Node, budget: list[int], above: set[int]) -> Plain:
    budget[0] -= 1
    if budget[0] < 0 or id(node) in above:
        raise _UnknownError
    if isinstance(node, SequenceNode):
        return [_value(layer, item, budget, above | {id(node)}) for item in node.value]
    if isinstance(node, MappingNode):
        inside = above | {id(node)}
        return {key.value: _value(layer, value, budget, inside) for key, value in entries(node)}
    if not isinstance(node, ScalarNode) or templated(layer.text[node.start_mark.index : node.end_mark.index]):
        raise _UnknownError
    text = _written(node)
    return plain_value(text) if not node.style and not node.tag else text


_UNSAFE = re.compile(r"[\s,\[\]{}#&*!|>'\"%@`?:-]")


def safe_plain(text: str, flow: bool = False, string: bool = True) -> bool:
    """Whether the text can stand without quotes. string: and must stay a text."""
    if not text or text != text.strip() or not text.isprintable() or ": " in text or " #" in text or text.endswith(":"):
        return False
    head = text[0]
    if _UNSAFE.match(head) and not (head in "-?:" and len(text) > 1 and not text[1].isspace()):
        return False
    if flow and (head in ":?" or any(character in text for character in ",[]{}")):
        return False
    return not string or _tag(text) == "str"


def write_scalar(text: str, style: str | None, flow: bool = False) -> str:
    """A scalar that says `text` as a text, in the given quotes where they serve."""
    if style == '"' and ('"' in text or "\\" in text) and "'" not in text and "\n" not in text:
        style = "'"
    if style not in ("'", '"') and safe_plain(text, flow):
        return text
    if style != '"' and "\n" not in text and (style == "'" or '"' in text or "\\" in text):
        return "'" + text.replace("'", "''") + "'"
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
