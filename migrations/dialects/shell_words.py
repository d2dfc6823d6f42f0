"""A shell text inside a YAML scalar, cut into commands and words with the place of every character."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from appliance.migrations.dialects.layers import Inlay, Layer

_PLAIN = re.compile(r"[\w@%+=:,./~^$\[\]{}!-]+", re.ASCII)
_END = re.compile(r"\r?\n|&&|\|\||[;&|()]")
_DASH = re.compile(r"\s*--?[A-Za-z]")
_REDIRECT = re.compile(r"[<>]+[&|]?")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CLOSES = {"(": ")", "{": "}"}


@dataclass
class ShellWord:
    """quotes: for each character, the quotes that it stands in: `'`, `"` or a blank for none."""

    start: int
    end: int = 0
    text: str = ""
    begins: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    quotes: str = ""
    opaque: bool = False

    def take(self, text: str, begin: int, end: int, quote: str) -> None:
        for index, character in enumerate(text):
            self.text += character
            whole = len(text) == end - begin
            self.begins.append(begin + index if whole else begin)
            self.ends.append(begin + index + 1 if whole else end)
            self.quotes += quote

    def layer(self, below: Layer) -> Inlay:
        return Inlay(below, self.text, self.begins, self.ends, self.start, self._escape)

    def _escape(self, new: str, start: int, end: int) -> str:
        if not new:
            return new
        index = start if start < end else start - 1
        quote = self.quotes[index] if 0 <= index < len(self.quotes) else " "
        if quote == "'":
            return new.replace("'", "'\\''")
        if quote == '"':
            return re.sub(r'(["\\`])', r"\\\1", new)
        return quoted(new)


def quoted(text: str, like: str = "") -> str:
    """As one shell word, in the quotes of another word where they serve."""
    if like[:1] == '"' or ("$" in text and not _PLAIN.fullmatch(text)):
        if "$" in text or '"' not in text:
            return '"' + re.sub(r'(["\\`])', r"\\\1", text) + '"'
        return "'" + text.replace("'", "'\\''") + "'"
    if _PLAIN.fullmatch(text) and "{" not in text.replace("${", "") and like[:1] != "'":
        return text
    return "'" + text.replace("'", "'\\''") + "'"


def commands(text: str) -> list[list[ShellWord]]:
    """The simple commands in order. An unclosed quote reaches to the end."""
    found: list[list[ShellWord]] = [[]]
    at, size = 0, len(text)
    skip = False
    while at < size:
        if text.startswith("\\\n", at) or text.startswith("\\\r\n", at):
            at = text.index("\n", at) + 1
        elif text[at] in " \t" or (text[at] == "\r" and not text.startswith("\r\n", at)):
            at += 1
        elif text[at] == "#":
            at = text.find("\n", at) if "\n" in text[at:] else size
        elif redirect := _REDIRECT.match(text, at):
            previous = found[-1][-1] if found[-1] else None
            if previous and previous.end == at and previous.text.isdigit():
                found[-1].pop()
            at, skip = redirect.end(), True
        elif end := _END.match(text, at):
            # No command begins with a dash: these are more arguments, on lines that somebody else joins.
            if not (end.group().endswith("\n") and _DASH.match(text, end.end())):
                found.append([])
            at, skip = end.end(), False
        else:
            word = _word(text, at)
            at = max(word.end, at + 1)
            if not skip:
                found[-1].append(word)
            skip = False
    return [words for words in found if words]


def _word(text: str, at: int) -> ShellWord:
    word = ShellWord(at)
    size = len(text)
    while at < size:
        character = text[at]
        if character in " \t\r\n;&|()<>":
            break
        if character == "'":
            close = text.find("'", at + 1)
            stop = close if close >= 0 else max(at + 1, len(text.rstrip("\r\n")))
            word.take(text[at + 1 : stop], at + 1, stop, "'")
            at = stop + 1 if close >= 0 else stop
        elif character == '"':
            at = _double(text, at + 1, word)
        elif character == "\\":
            if text[at + 1 : at + 2] == "\n":
                at += 2
                continue
            word.take(text[at + 1 : at + 2], at, min(at + 2, size), " ")
            at += 2
        elif (end := _expansion(text, at)) > at:
            word.take(text[at:end], at, end, " ")
            word.opaque = word.opaque or character == "`"
            at = end
        else:
            word.take(character, at, at + 1, " ")
            at += 1
    word.end = min(at, size)
    return word


def _double(text: str, at: int, word: ShellWord) -> int:
    stop = len(text) if '"' in text[at:] else max(at, len(text.rstrip("\r\n")))
    while at < stop and text[at] != '"':
        if text.startswith("\\\n", at):
            at += 2
        elif text[at] == "\\" and text[at + 1 : at + 2] and text[at + 1] in '"\\$`':
            word.take(text[at + 1], at, at + 2, '"')
            at += 2
        elif (end := _expansion(text, at)) > at:
            word.take(text[at:end], at, end, '"')
            word.opaque = word.opaque or text[at] == "`"
            at = end
        else:
            word.take(text[at], at, at + 1, '"')
            at += 1
    return at + 1 if at < stop else stop


def _expansion(text: str, at: int) -> int:
    """Where `$NAME`, `${..}`, `$(..)`, backquotes or `{{ .. }}` end; `at` when none begins here."""
    if text.startswith("{{", at):
        close = text.find("}}", at)
        return close + 2 if close >= 0 else at
    if text[at] == "`":
        close = text.find("`", at + 1)
        return close + 1 if close >= 0 else len(text.rstrip("\r\n"))
    if text[at] != "$":
        return at
    opening = text[at + 1 : at + 2]
    if opening not in _CLOSES or not opening:
        name = _NAME.match(text, at + 1)
        return name.end() if name else at + 1
    depth, position = 0, at + 1
    while position < len(text):
        if text[position] == opening:
            depth += 1
        elif text[position] == _CLOSES[opening]:
            depth -= 1
            if not depth:
                return position + 1
        position += 1
    return len(text.rstrip("\r\n"))


def assignment(word: ShellWord) -> int:
    """Length of NAME in a word `NAME=value`, 0 for any other word."""
    name = _NAME.match(word.text)
    return name.end() if name and word.text.startswith("=", name.end()) else 0


def texts(words: Sequence[ShellWord]) -> list[str]:
    return [word.text for word in words]
