"""Text inside text: a JSON value in a shell word in a YAML scalar in a file; each layer knows its way to the file."""

from collections.abc import Callable, Sequence
from typing import Protocol

from appliance.migrations.canonical import Edit, Span


class Layer(Protocol):
    """Decoded text, and how its characters stand in the file."""

    @property
    def text(self) -> str: ...

    def bounds(self, start: int, end: int) -> tuple[int, int]:
        """File offsets of the characters start..end; of the place before `start` when there are none."""
        ...

    def edit(self, start: int, end: int, new: str) -> Edit:
        """The edit of the file that makes the decoded text read `new` there."""
        ...


class FileLayer:
    """The file itself. A byte order mark is no part of the text; new lines end as the file's lines do."""

    def __init__(self, text: str) -> None:
        self._base = 1 if text.startswith("\ufeff") else 0
        self.text = text[self._base :]
        first = self.text.find("\n")
        self._crlf = first > 0 and self.text[first - 1] == "\r"

    def bounds(self, start: int, end: int) -> tuple[int, int]:
        return start + self._base, end + self._base

    def edit(self, start: int, end: int, new: str) -> Edit:
        if self._crlf:
            new = new.replace("\r\n", "\n").replace("\n", "\r\n")
        return Edit(Span(*self.bounds(start, end)), new)


class Inlay:
    """A decoded part of another layer.

    begins, ends: for each character, where its written form begins and ends in the parent. origin: where an empty text
    stands. escape: writes new text the way the surroundings of characters start..end want it.
    """

    def __init__(
        self,
        parent: Layer,
        text: str,
        begins: Sequence[int],
        ends: Sequence[int],
        origin: int,
        escape: Callable[[str, int, int], str],
    ) -> None:
        self.parent = parent
        self.text = text
        self._begins = begins
        self._ends = ends
        self._origin = origin
        self._escape = escape

    def place(self, start: int, end: int) -> tuple[int, int]:
        """In the parent's text."""
        if start < end:
            return self._begins[start], self._ends[end - 1]
        at = self._origin
        if start < len(self.text):
            at = self._begins[start]
        elif start > 0:
            at = self._ends[start - 1]
        return at, at

    def bounds(self, start: int, end: int) -> tuple[int, int]:
        return self.parent.bounds(*self.place(start, end))

    def edit(self, start: int, end: int, new: str) -> Edit:
        return self.parent.edit(*self.place(start, end), self._escape(new, start, end))


class LinesInlay(Inlay):
    """A YAML block scalar: whole lines come and go with their indentation."""

    def __init__(
        self, parent: Layer, text: str, begins: Sequence[int], ends: Sequence[int], origin: int, indent: str
    ) -> None:
        super().__init__(parent, text, begins, ends, origin, lambda new, start, end: new.replace("\n", "\n" + indent))
        self._indent = indent

    def edit(self, start: int, end: int, new: str) -> Edit:
        if not (self._line_start(start) and self._line_start(end) and (not new or new.endswith("\n"))):
            return super().edit(start, end, new)
        first, last = self.place(start, end)
        first = self.parent.text.rfind("\n", 0, first) + 1
        last = last if start < end else first
        lines = "".join(self._indent + line if line.strip() else line for line in new.splitlines(keepends=True))
        return self.parent.edit(first, last, lines)

    def _line_start(self, index: int) -> bool:
        return index == 0 or self.text[index - 1] == "\n"


def part(layer: Layer, start: int, end: int) -> Inlay:
    """Some characters of a layer as a layer."""
    places = range(start, end)
    return Inlay(layer, layer.text[start:end], places, range(start + 1, end + 1), start, lambda new, s, e: new)


def span(layer: Layer, start: int, end: int) -> Span:
    return Span(*layer.bounds(start, end))


def offsets(layer: Layer) -> tuple[int, ...]:
    """File offset of every character."""
    return tuple(layer.bounds(index, index + 1)[0] for index in range(len(layer.text)))


def replaced(layer: Layer, start: int, end: int, new: str) -> list[Edit]:
    """The smallest edit that puts `new` there; none when it stands there already."""
    old = layer.text[start:end]
    if old == new:
        return []
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return [layer.edit(start + head, end - tail, new[head : len(new) - tail])]


def cut(layer: Layer, start: int, end: int) -> Span:
    """What disappears from the file with the characters start..end."""
    return layer.edit(start, end, "").span
