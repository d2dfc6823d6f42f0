"""Arguments as they are written: decoded text with its quotes, and lists of them that can be edited in place."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from appliance.migrations.argv import Word
from appliance.migrations.canonical import Edit, Span
from appliance.migrations.dialects.layers import FileLayer, Inlay, Layer, offsets, span

_REMARK = re.compile(r"[ \t]+#[^\r\n]*")


_REST_OF_LINE = re.compile(r"[ \t\r]*;?[ \t\r]*(?:#[^\n]*)?(?:\n|\Z)")
_NEXT = re.compile(r"[ \t]*(?:;|&&)[ \t]*(?=[^\s#;&)}])")


class CannotWriteError(ValueError):
    """The text cannot be written in this place."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One word in a layer, quotes included in start..end.

    begins, ends, modes: for every character of `text`, where it stands in the layer and inside which quote; None when
    the word stands there as it is. opaque: the shell fills in a part of it. variable: the word is this variable alone.
    """

    start: int
    end: int
    text: str
    begins: Sequence[int] | None = None
    ends: Sequence[int] | None = None
    modes: str | None = None
    opaque: bool = False
    variable: str = ""

    def mode(self, start: int, end: int) -> str:
        """The quote around these characters: one of `'`, `"`, `$`; a space for none, and `?` where they differ."""
        if self.modes is None:
            return " "
        found = set(self.modes[start:end] or self.modes[start : start + 1] or self.modes[-1:])
        return found.pop() if len(found) == 1 else "?" if found else " "

    def inlay(self, layer: Layer, syntax: "Syntax") -> Inlay:
        begins = range(self.start, self.end) if self.begins is None else self.begins
        ends = range(self.start + 1, self.end + 1) if self.ends is None else self.ends

        def escape(new: str, start: int, end: int) -> str:
            return syntax.inside(new, self.mode(start, end))

        return Inlay(layer, self.text, begins, ends, self.start + (self.end > self.start), escape)

    def word(self, layer: Layer, syntax: "Syntax") -> Word:
        place = span(layer, self.start, self.end)
        if self.begins is None and isinstance(layer, FileLayer):
            return Word(self.text, place, self.opaque)
        return Word(self.text, place, self.opaque, offsets(self.inlay(layer, syntax)))


@dataclass(frozen=True, slots=True)
class Syntax:
    """How words are written in one kind of list.

    quote: a new word from its text. inside: text within quotes of a kind. raw: a word that a variable fills in.
    gap: what may stand between two words. separator: what is put between new ones. compact: words hold no spaces.
    whole: `NAME=value` is quoted as one. remarks: a `#` behind the last word begins a comment.
    """

    quote: Callable[[str], str]
    inside: Callable[[str, str], str]
    raw: Callable[[str], str]
    gap: "re.Pattern[str]"
    separator: str = " "
    compact: bool = False
    whole: bool = False
    remarks: bool = False


@dataclass(frozen=True, slots=True)
class Remark:
    """Where a comment about something may stand: at the start of a line of the layer."""

    layer: Layer
    offset: int
    indent: str = ""

    def edit(self, text: str, sign: str = "# ") -> Edit | None:
        """None when the very remark stands there already."""
        line = f"{self.indent}{sign}{' '.join(text.split())}\n"
        written, end = self.layer.text, self.offset
        while end and written[end - 1] == "\n":
            begin = written.rfind("\n", 0, end - 1) + 1
            above = written[begin:end].strip()
            if above == line.strip():
                return None
            if not above.startswith(sign.strip()):
                break
            end = begin
        return self.layer.edit(self.offset, self.offset, line)


_OWN_REMARK = re.compile(r"\n[ \t]*#")
_COMMA_ONLY = re.compile(r"[ \t]*,[ \t]*\\?[ \t]*\r?")


@dataclass(eq=False)
class WordList:
    """Words of one command, array, option string or list, with what a person's eye sees as belonging to them.

    start, end: where the list's content begins and ends in the layer. remark: where a comment about it may stand.
    statement: what goes as a whole when no word but the first is left.
    """

    layer: Layer
    pieces: Sequence[Piece]
    syntax: Syntax
    start: int
    end: int
    remark: Remark | None = None
    statement: Any = None

    def before(self, index: int) -> tuple[int, bool]:
        """Where the gap in front of a word begins, and whether another word stands there."""
        here = self.pieces[index].start
        left = self.pieces[index - 1].end if index else self.start
        if self.syntax.gap.fullmatch(self.layer.text, left, here):
            return left, index > 0
        while here > left and self.layer.text[here - 1] in " \t":
            here -= 1
        return here, index > 0

    def after(self, index: int) -> tuple[int, bool]:
        """Where the gap behind a word ends, and whether another word stands there."""
        here = self.pieces[index].end
        last = index + 1 == len(self.pieces)
        right = self.end if last else self.pieces[index + 1].start
        found = self.syntax.gap.match(self.layer.text, here, right)
        end = found.end() if found else here
        return end, not last and end == right

    def removal(self, first: int, last: int) -> tuple[int, int]:
        """The characters that go with the words first..last: their gap, or their lines when they fill them."""
        text = self.layer.text
        start, end = self.pieces[first].start, self.pieces[last].end
        left, has_left = self.before(first)
        right, has_right = self.after(last)
        if (
            self.syntax.separator.strip()
            and first
            and not self.syntax.gap.fullmatch(text, self.pieces[first - 1].end, start)
        ):
            # a comment line of the list stands in front; the comma that goes is the one behind
            line, stop = text.rfind("\n", 0, start) + 1, text.find("\n", end)
            if last + 1 == len(self.pieces):
                raise CannotWriteError("a comment stands between this and the comma in front of it")
            if not text[line:start].strip() and _COMMA_ONLY.fullmatch(text, end, stop):
                return line, stop + 1
            return start, right
        broken = "\n" in text[left:start]
        line_end = text.find("\n", end, right) + 1
        if broken and line_end and (has_right or not text[end:line_end].rstrip().endswith("\\")):
            return text.rfind("\n", 0, start) + 1, line_end
        if not has_right and "{%" in text[self.pieces[first - 1].end if first else self.start : start]:
            raise CannotWriteError("a template stands between this and what is in front of it")
        if not has_right:
            remark = _REMARK.match(text, end) if broken and self.syntax.remarks else None
            end = remark.end() if remark else end
            return (left, end) if has_left or not first else (start, end)
        if first == 1 and self.statement and "#" not in text[end:right]:
            return start, right
        return (start, right) if broken or not has_left or self._continued(left, start) else (left, end)

    def _continued(self, start: int, end: int) -> bool:
        """Whether a gap holds characters of the file that its decoded text has lost, as two lines made one do."""
        _, before = self.layer.bounds(start - 1, start)
        behind, _ = self.layer.bounds(end, end + 1)
        return behind - before > end - start

    def runs(self, indexes: set[int]) -> list[tuple[int, int]]:
        """The words as first..last, with nothing but gaps inside."""
        found: list[tuple[int, int]] = []
        for index in sorted(indexes):
            if found and found[-1][1] + 1 == index and self.after(index - 1)[1] and not self._remarked(index):
                found[-1] = (found[-1][0], index)
            else:
                found.append((index, index))
        return found

    def _remarked(self, index: int) -> bool:
        """Whether a comment on a line of its own stands in front of the word."""
        return _OWN_REMARK.search(self.layer.text, self.pieces[index - 1].end, self.pieces[index].start) is not None

    def element(self, first: int, last: int) -> Span:
        """The words with the gaps on both sides; those at the ends of a statement take its ends with them."""
        left, _ = self.before(first)
        try:
            right = self.removal(first, last)[1]
        except CannotWriteError:
            right = self.pieces[last].end
        remark = _REMARK.match(self.layer.text, right) if self.syntax.remarks else None
        right = remark.end() if remark else right
        place = span(self.layer, left, max(self.after(last)[0], right))
        if self.statement is None:
            return place
        layer, start, end = self.statement.remark.layer, self.statement.start, self.statement.end
        cut = statement_cut(layer.text, start, end) or (start, end)
        begin, stop = layer.bounds(*cut)
        return Span(begin if first <= 1 else place.start, stop if last + 1 == len(self.pieces) else place.end)

    def gap_of(self, index: int) -> str:
        """What to put in front of a new word that stands like this one."""
        left, _ = self.before(index)
        gap = self.layer.text[left : self.pieces[index].start]
        plain = "\n" in gap and "#" not in gap
        comma = self.syntax.separator.strip()
        if not plain:
            return self.syntax.separator
        return gap if not comma or comma in gap else comma + gap

    def words(self) -> list[Word]:
        return [piece.word(self.layer, self.syntax) for piece in self.pieces]


def statement_cut(text: str, start: int, end: int) -> tuple[int, int] | None:
    """What goes with a statement: its lines, or what joins it to the next; None where something has to stay."""
    begin = text.rfind("\n", 0, start) + 1
    rest = _REST_OF_LINE.match(text, end)
    if rest and not text[begin:start].strip():
        return begin, rest.end()
    following = _NEXT.match(text, end)
    return (start, following.end()) if following else None
