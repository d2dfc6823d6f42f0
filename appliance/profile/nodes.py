"""The tree of a YAML text with the place of every key and value."""

import json
import re
from dataclasses import dataclass, field

Key = str | int
Path = tuple[Key, ...]
STEP = re.compile(r'\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]|\.?([^.\[\]]+)')


@dataclass(slots=True)
class Scalar:
    raw: str
    """Text as written, quotes and escapes undone."""
    plain: bool
    """Written without quotes."""
    line: int
    column: int


@dataclass(slots=True)
class Sequence:
    line: int
    column: int
    items: list["Node"] = field(default_factory=list)


@dataclass(slots=True)
class Mapping:
    line: int
    column: int
    entries: dict[str, tuple[Scalar, "Node"]] = field(default_factory=dict)
    merged: dict[str, tuple[Scalar, "Node"]] = field(default_factory=dict)
    """What merge keys (`<<`) bring, for keys that `entries` lacks."""

    def get(self, key: str) -> "tuple[Scalar, Node] | None":
        return self.entries.get(key) or self.merged.get(key)

    def all(self) -> dict[str, tuple[Scalar, "Node"]]:
        """In order, own keys first."""
        return {**self.entries, **{key: found for key, found in self.merged.items() if key not in self.entries}}


Node = Scalar | Sequence | Mapping


def dotted(path: Path) -> str:
    """("a", "b", 2, "x.y") -> a.b[2]["x.y"]"""
    text = ""
    for key in path:
        if isinstance(key, int):
            text += f"[{key}]"
        elif re.fullmatch(r"[^.\[\]\"\s]+", key):
            text += f".{key}" if text else key
        else:
            text += f"[{json.dumps(key)}]"
    return text


def steps(path: str) -> Path:
    """The inverse of `dotted`."""
    found: list[Key] = []
    for index, quoted, name in STEP.findall(path):
        found.append(int(index) if index else name or str(json.loads(f'"{quoted}"')))
    return tuple(found)
