"""The offending line of a file with a caret below it; secrets on it are covered."""

import re
import unicodedata
from functools import cache
from pathlib import Path

from ..diagnostics import Position
from ..profile.quoting import covered
from ..profile.spoken import spoken

SECRET = re.compile(r"(?i)(api[_-]?keys?|token|secret|passw(or)?d)[\"']?\s*[:=]")
NAMED = r"env\s*:\s*[A-Za-z_]\w*|file\s*:\s*[\w./~${}:+-]+|file\s*:\s*\"[^\"]*\""
REFERENCE = re.compile(rf"\s*\[?\s*\{{?\s*({NAMED})[\s\],}}]*(#.*)?")
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'|(?:\$\{[^}]*\}|:(?=\S)|(?<=\S)#|[^\s,\[\]{}:#])+|.')
COVER = "[•••]"


@cache
def lines_of(file: str) -> tuple[str, ...]:
    try:
        with Path(file).open("rb") as opened:
            text = opened.read(2**20).decode("utf-8-sig", "replace")
    except (OSError, ValueError):
        return ()
    return tuple(text.replace("\r\n", "\n").split("\n"))


def snippet(position: Position, width: int) -> tuple[str, str] | None:
    """The line and its caret line, each at most `width` columns wide; None where there is no such line."""
    lines = lines_of(position.file) if position.line else ()
    if position.line > len(lines) or not lines:
        return None
    line = "".join(letter if letter.isprintable() else " " for letter in covered(lines[position.line - 1]))
    column = min(position.column - 1, len(line))
    if is_secret(lines, position.line - 1):
        line = without_value(line)
        column = min(column, line.index(COVER))
    else:
        line, column = without_words(line, column)
    found = TOKEN.match(line, column)
    length = len(COVER) if line.startswith(COVER, column) else len(found[0]) if found else 1
    if cells(line) > width:
        first = max(0, min(column - width // 3, len(line) - width + 1))
        cut = line[first : first + width - 2]
        line, column = ("…" if first else "") + cut + "…", column - first + bool(first)
    return line, " " * cells(line[:column]) + "^" * max(1, min(length, cells(line) - cells(line[:column])))


def is_secret(lines: tuple[str, ...], index: int) -> bool:
    """Does the line, or a key it lies below, speak of a secret that is written out?"""
    depth, item = len(lines[index]) - len(lines[index].lstrip()) + 1, False
    for line in reversed(lines[: index + 1]):
        indentation, dash = len(line) - len(line.lstrip()), line.lstrip().startswith("-")
        # an item may stand as far to the left as the key of its list
        if not line.strip() or indentation > depth or (indentation == depth and (dash or not item)):
            continue
        found = SECRET.search(line)
        if found and not REFERENCE.fullmatch(line, found.end()):
            return line is lines[index] or not REFERENCE.fullmatch(lines[index].lstrip().removeprefix("- "))
        depth, item = indentation, dash
        if not depth and not item:
            break
    return False


def without_value(line: str) -> str:
    """Everything after the key that names a secret, or after the dash of a list item, is covered."""
    found = SECRET.search(line) or re.match(r"\s*-\s*", line) or re.match(r"\s*", line)
    return line[: found.end()].rstrip() + " " + COVER if found else COVER


def without_words(line: str, column: int) -> tuple[str, int]:
    """Covers secrets that the words beside them give away; the column moves along."""
    for first, end in spoken(line):
        line = line[:first] + COVER + line[end:]
        column = column + len(COVER) - (end - first) if column >= end else min(column, first)
    return line, column


def cells(text: str) -> int:
    """Columns on a terminal."""
    return sum(
        0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        for letter in text
    )
