"""A YAML text that has been read: its tree, and the position of any dotted path in it."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..diagnostics import Position
from .nodes import Mapping, Node, Path, Scalar, Sequence, steps


@dataclass(frozen=True)
class Document:
    """`root` is None where the text could not be read as one YAML document."""

    file: str
    text: str
    root: Node | None

    def node(self, path: str | Path) -> Node | None:
        """What stands at `path`, or None."""
        found, missing = self._walk(path)
        return None if missing else found[1]

    def position(self, path: str | Path = "") -> Position:
        """Of the value at `path`; where it is not written, of the nearest key above it."""
        (key, value), missing = self._walk(path)
        at = key if missing and key else value
        return Position(self.file, at.line, at.column) if at else Position(self.file)

    def key_position(self, path: str | Path) -> Position:
        """Of the key itself (the value, for list items)."""
        (key, value), _ = self._walk(path)
        at = key or value
        return Position(self.file, at.line, at.column) if at else Position(self.file)

    @cached_property
    def tree(self) -> Any:
        """Plain Python data (dict, tuple, str, int, float, bool, None), references not replaced."""
        from .plain import to_plain

        return to_plain(self, environ=None)[0]

    def _walk(self, path: str | Path) -> tuple[tuple[Scalar | None, Node | None], bool]:
        """Nearest existing (key, value) on the way to `path`, and whether it stops short of it."""
        key: Scalar | None = None
        node = self.root
        for step in steps(path) if isinstance(path, str) else path:
            if isinstance(node, Mapping) and isinstance(step, str) and (found := node.get(step)):
                key, node = found
            elif isinstance(node, Sequence) and isinstance(step, int) and step < len(node.items):
                key, node = None, node.items[step]
            else:
                return (key, node), True
        return (key, node), False
