"""Files of instructions and settings, one a line: continued lines, words with quotes, whole lines that come and go."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from appliance.migrations.canonical import OptionSite
from appliance.migrations.dialects.bash_tree import Block, Statement
from appliance.migrations.dialects.layers import Inlay, Layer
from appliance.migrations.dialects.pieces import Piece, Remark, Syntax, WordList
from appliance.migrations.dialects.unquote import scan
from appliance.migrations.dialects.word_sites import env_site

_TOKEN = re.compile(r"""(?:\\(?:\r\n|[\s\S])|"(?:\\[\s\S]|[^"\\])*"|'(?:\\[\s\S]|[^'\\])*'|[^\s\\"'])+""")
_FILLED = re.compile(r"\$\{[^}]*\}|\$\([^)]*\)|\$[A-Za-z_]\w*|\{\{.*?\}\}")
_BLANKED = re.compile(r"([^\n]*?)[^\r\n](\r?\n|\Z)")
_JOINT = re.compile(r"(?:\\\r?\n)*")
_ONE = re.compile(r"\$(?:(\w+)|\{(\w+)\}|\((\w+)\))\Z")


@dataclass(frozen=True, slots=True)
class Logical:
    """A line with its continuations: where it begins and ends, the line break not included."""

    start: int
    end: int


def logical_lines(text: str, comments: str = "#", first: int = 0) -> Iterator[Logical]:
    """Lines joined by `\\`; comment lines and, behind a continuation, comments in between belong to the joined one."""
    at = first
    marks = tuple(comments)
    while at < len(text):
        start = at
        joined = False
        while True:
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            line = text[at:end].strip()
            at = end + 1
            inner = joined and line.startswith(marks)
            joined = inner or (line.endswith("\\") and not line.startswith(marks))
            if not joined or at > len(text):
                break
        yield Logical(start, end)


def blanked(text: str, start: int, end: int, comments: str = "#") -> str:
    """The text of a continued line with its comment lines blank, as long as before."""
    out = []
    for number, line in enumerate(text[start:end].splitlines(keepends=True)):
        comment = number > 0 and comments and line.lstrip().startswith(tuple(comments))
        out.append(_BLANKED.sub(lambda found: " " * len(found[1]) + "\\" + found[2], line) if comment else line)
    return "".join(out)


def same_length(layer: Layer, text: str, start: int) -> Inlay:
    """Another reading of the characters from `start` on."""
    places = range(start, start + len(text))
    return Inlay(layer, text, places, range(start + 1, start + len(text) + 1), start, lambda new, s, e: new)


def tokens(text: str, start: int, end: int, filled: re.Pattern[str] = _FILLED, escapes: bool = False) -> list[Piece]:
    """Words divided by blanks. filled: what something puts in later. escapes: also between single quotes."""
    found = []
    for token in _TOKEN.finditer(text, start, end):
        begin, stop = token.span()
        joint = _JOINT.match(text, begin, stop)
        begin = joint.end() if joint else begin
        while text[begin:stop].endswith(("\\\n", "\\\r\n")):
            stop -= 3 if text[stop - 2] == "\r" else 2
        if begin < stop:
            found.append(word(text, begin, stop, filled, escapes))
    return found


def word(text: str, start: int, end: int, filled: re.Pattern[str] = _FILLED, escapes: bool = False) -> Piece:
    raw = text[start:end]
    ranges = [part.span() for part in filled.finditer(text, start, end)]
    if not ranges and not re.search(r"[\\\"']", raw):
        return Piece(start, end, raw)
    one = _ONE.match(raw.strip('"'))
    variable = next((name for name in one.groups() if name), "") if one else ""
    return scan(text, start, end, ranges, variable, escapes)


def pair(text: str, name: tuple[int, int], value: tuple[int, int], quotes: bool = True) -> Piece:
    """A name and a value that stand apart, as one word `NAME=value`."""
    inner = word(text, *value) if quotes else Piece(*value, text[slice(*value)], opaque="$" in text[slice(*value)])
    begins = inner.begins if inner.begins is not None else range(*value)
    ends = inner.ends if inner.ends is not None else range(value[0] + 1, value[1] + 1)
    modes = inner.modes if inner.modes is not None else " " * len(inner.text)
    return Piece(
        name[0],
        value[1],
        f"{text[slice(*name)]}={inner.text}",
        [*range(*name), name[1], *begins],
        [*range(name[0] + 1, name[1] + 1), value[0], *ends],
        " " * (name[1] - name[0] + 1) + modes,
        inner.opaque,
    )


def statement(layer: Layer, start: int, end: int) -> Statement:
    """A line that can go as a whole."""
    begin = layer.text.rfind("\n", 0, start) + 1
    return Statement(start, end, Remark(layer, begin), Block(top=True))


def line_site(layer: Layer, piece: Piece, syntax: Syntax, whole: Statement) -> OptionSite:
    """A variable that has a line of its own."""
    words = WordList(layer, (piece,), syntax, piece.start, piece.end, whole.remark, whole)
    return env_site(words, 0)
