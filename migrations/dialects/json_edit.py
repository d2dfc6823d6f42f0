"""Changes inside one JSON text: keys taken out, renamed, given values and put in, the rest byte for byte."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from appliance.migrations.canonical import Edit, Path
from appliance.migrations.dialects.layers import Layer
from appliance.migrations.dialects.pieces import CannotWriteError, Piece, WordList
from appliance.migrations.dialects.quoting import JSON_LIST
from appliance.migrations.operations import Insert, Keep, Raw, Remove, Rewrite

_BLANK = re.compile(r"[ \t\r\n]*")
_SUFFIX = re.compile(r"[kKmMgGtT]?")
_DECODER = json.JSONDecoder(strict=False)

JsonOperation = Remove | Rewrite | Insert


@dataclass
class _Member:
    index: int
    key: tuple[int, int]
    value: tuple[int, int]
    inside: "_Object | None"


@dataclass
class _Object:
    start: int
    end: int
    members: dict[str, _Member] = field(default_factory=dict)
    removed: set[int] = field(default_factory=set)
    added: dict[str, Any] = field(default_factory=dict)


def edit_json(layer: Layer, operations: Sequence[JsonOperation]) -> list[Edit]:
    """Raises CannotWriteError where the text is no JSON object that can be changed in place."""
    text = layer.text
    try:
        root, _ = _object(text, _BLANK.match(text).end())  # type: ignore[union-attr]
    except (ValueError, IndexError, RecursionError, StopIteration):
        raise CannotWriteError("its JSON cannot be read well enough to change it in place") from None
    edits: list[Edit] = []
    for operation in operations:
        _note(layer, root, operation, edits)
    _close(layer, root, edits)
    return edits


def dump(value: Any, spaced: bool = True) -> str:
    if isinstance(value, Raw):
        raise CannotWriteError("its value is filled in later and cannot be put into JSON here")
    return json.dumps(value, ensure_ascii=False, separators=None if spaced else (",", ":"))


def _object(text: str, at: int) -> tuple[_Object, int]:
    if text[at] != "{":
        raise ValueError(at)
    found = _Object(at, at)
    at = _skip(text, at + 1)
    while text[at] != "}":
        begin = at
        if text[at] != '"':
            raise ValueError(at)
        key, key_end = _DECODER.raw_decode(text, at)
        at = _skip(text, key_end)
        if text[at] != ":":
            raise ValueError(at)
        value = _skip(text, at + 1)
        inside: _Object | None = None
        if text[value] == "{":
            inside, end = _object(text, value)
        else:
            end = _SUFFIX.match(text, _DECODER.raw_decode(text, value)[1]).end()  # type: ignore[union-attr]
        found.members[key] = _Member(len(found.members), (begin, key_end), (value, end), inside)
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
        elif text[at] != "}":
            raise ValueError(at)
    found.end = at + 1
    return found, at + 1


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _note(layer: Layer, root: _Object, operation: JsonOperation, edits: list[Edit]) -> None:
    parent, rest = _descend(root, operation.path)
    if isinstance(operation, Insert):
        target = parent.added
        for step in rest[:-1]:
            target = target.setdefault(step, {})
        target[rest[-1]] = operation.value
        return
    if len(rest) != 1 or rest[0] not in parent.members:
        raise CannotWriteError(f"{'.'.join(operation.path)} is not written there")
    member = parent.members[rest[0]]
    if isinstance(operation, Remove):
        parent.removed.add(member.index)
        return
    if not isinstance(operation.name, Keep):
        edits.append(layer.edit(member.key[0] + 1, member.key[1] - 1, json.dumps(operation.name)[1:-1]))
    if not isinstance(operation.value, Keep):
        edits.append(layer.edit(*member.value, dump(operation.value)))


def _descend(root: _Object, path: Path) -> tuple[_Object, Path]:
    """The deepest object that exists on the way to the path, and the steps below it."""
    current, rest = root, path
    while len(rest) > 1 and rest[0] in current.members:
        inside = current.members[rest[0]].inside
        if inside is None:
            raise CannotWriteError(f"{rest[0]} holds no keys")
        current, rest = inside, rest[1:]
    return current, rest


def _close(layer: Layer, found: _Object, edits: list[Edit]) -> None:
    for member in found.members.values():
        if member.inside and member.index not in found.removed:
            _close(layer, member.inside, edits)
    pieces = [Piece(m.key[0], m.value[1], "") for m in found.members.values()]
    members = WordList(layer, pieces, JSON_LIST, found.start + 1, found.end - 1)
    for first, last in members.runs(found.removed):
        edits.append(layer.edit(*members.removal(first, last), ""))
    if not found.added:
        return
    spaced = not pieces or layer.text[next(iter(found.members.values())).value[0] - 1] != ":"
    new = [
        f"{dump(key)}: {dump(value)}" if spaced else f"{dump(key)}:{dump(value, False)}"
        for key, value in found.added.items()
    ]
    kept = [index for index in range(len(pieces)) if index not in found.removed]
    if not kept:
        edits.append(layer.edit(found.start + 1, found.start + 1, ", ".join(new)))
        return
    gap = members.gap_of(kept[-1])
    gap = gap if spaced or "\n" in gap else ","
    at = pieces[kept[-1]].end
    edits.append(layer.edit(at, at, "".join(gap + text for text in new)))
