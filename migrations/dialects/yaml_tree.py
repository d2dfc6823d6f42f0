"""YAML and JSON text to nodes with positions, once per file; template parts are masked by as many placeholders."""

import gc
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import yaml
from yaml._yaml import CParser
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from appliance.migrations.dialects import DialectError
from appliance.migrations.dialects.layers import FileLayer, Layer

Pair: TypeAlias = tuple[ScalarNode, Node]

# An opening that nobody closes does not reach over the next one, which may be ours. Expressions over several lines end
# in " }}" or "-}}": the braces of nested JSON close none.
_VALUE = r"\{\{(?:(?!\}\}|\{\{)[^\n])*\}\}|\{\{(?:(?!\}\}|\{\{).)*[\s-]\}\}"
_TAG = rf"(?:{_VALUE}|\{{%(?:(?!%\}}|\{{%).)*%\}}|\{{#(?:(?!#\}}|\{{#).)*#\}})"
_TEMPLATE = re.compile(_TAG, re.DOTALL)
_WHOLE_LINE = re.compile(rf"^[ \t]*(?:{_TAG}[ \t]*)+(?=\r?$)", re.DOTALL | re.MULTILINE)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
# libyaml ends lines at these too; nobody who writes YAML does
_BREAK = re.compile("[\x85\u2028\u2029]")
_VISIBLE = re.compile(r"[^\r\n]")


class _Parser(CParser):
    """libyaml's composer without tag resolution: a tag is what the text says, or empty."""

    def resolve(self, kind: type, value: str, implicit: Any) -> str:
        return ""

    def descend_resolver(self, parent: Any, index: Any) -> None: ...

    def ascend_resolver(self) -> None: ...


@dataclass(frozen=True, eq=False)
class Tree:
    layer: Layer
    roots: tuple[Node, ...]


def mask(text: str) -> str:
    """The text with `{{ }}`, `{% %}` and `{# #}` made harmless, every other character where it was."""
    if "{{" in text or "{%" in text or "{#" in text:
        text = _WHOLE_LINE.sub(lambda found: _VISIBLE.sub(" ", found.group()), text)
        text = _TEMPLATE.sub(lambda found: _VISIBLE.sub("x", found.group()), text)
    text = _BREAK.sub("x", text)
    return _SURROGATE.sub("xxxxxx", text) if "\\u" in text else text


@lru_cache(maxsize=1)
def file_tree(text: str) -> Tree:
    """Of a whole file; every dialect of the family asks for the same text in turn. Raises DialectError."""
    return tree_of(FileLayer(text))


def tree_of(layer: Layer) -> Tree:
    """Raises DialectError with an offset into the file."""
    collecting = gc.isenabled()
    # Nodes refer to one another in no cycles, and there are many of them: collection would take most of the time.
    gc.disable()
    try:
        parser = _Parser(mask(layer.text))
        roots: list[Node] = []
        while parser.check_node():
            root = parser.get_node()
            if root is not None:
                roots.append(root)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise _unreadable(layer, mark.index if mark else 0, error.problem or "no YAML") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise _unreadable(layer, int(getattr(error, "position", 0) or 0), str(error).splitlines()[0]) from None
    finally:
        if collecting:
            gc.enable()
    return Tree(layer, tuple(roots))


def _unreadable(layer: Layer, index: int, fact: str) -> DialectError:
    index = min(index, len(layer.text))
    return DialectError(layer.bounds(index, index)[0], f"not readable as YAML: {fact}", "repair the YAML first")


def entries(node: Node | None, merged: bool = True) -> Iterator[Pair]:
    """The scalar keys of a mapping with their values, those of merge keys after its own."""
    seen: set[int] = set()
    names: set[str] = set()
    waiting = [node]
    while waiting:
        current = waiting.pop(0)
        if isinstance(current, SequenceNode):
            waiting[:0] = current.value
            continue
        if not isinstance(current, MappingNode) or id(current) in seen:
            continue
        seen.add(id(current))
        first = current is node
        for key, value in current.value:
            if not isinstance(key, ScalarNode):
                continue
            if key.value == "<<" and not key.style:
                if merged:
                    waiting.append(value)
            elif first or key.value not in names:
                yield key, value
        names.update(key.value for key, _ in current.value if isinstance(key, ScalarNode))


def get(node: Node | None, *path: str) -> Node | None:
    """The value at a path of keys, the last one of duplicates; None where a step is missing."""
    for step in path:
        if not isinstance(node, MappingNode):
            return None
        own = [value for key, value in node.value if isinstance(key, ScalarNode) and key.value == step]
        node = own[-1] if own else next((value for key, value in entries(node) if key.value == step), None)
    return node


def items(node: Node | None) -> list[Node]:
    return list(node.value) if isinstance(node, SequenceNode) else []


def text_of(node: Node | None) -> str:
    """The text of a scalar, "" for anything else. Template parts are placeholders here."""
    return str(node.value) if isinstance(node, ScalarNode) else ""


def walk(root: Node) -> Iterator[MappingNode]:
    """Every mapping, outer ones first, each once."""
    seen: set[int] = set()
    waiting: list[Node] = [root]
    while waiting:
        node = waiting.pop()
        if id(node) in seen or isinstance(node, ScalarNode):
            continue
        seen.add(id(node))
        if isinstance(node, MappingNode):
            yield node
            waiting.extend(value for _, value in reversed(node.value))
        else:
            waiting.extend(reversed(node.value))
