"""Arguments, and variables in front of them, in one shell text inside a YAML scalar."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from appliance.migrations.argv import Word, read_words
from appliance.migrations.canonical import UNKNOWN, Edit, Form, Kind, OptionSite
from appliance.migrations.dialects.arg_list import inner_json
from appliance.migrations.dialects.layers import Inlay, Layer, cut, offsets, part, replaced, span
from appliance.migrations.dialects.shell_words import ShellWord, assignment, quoted
from appliance.migrations.dialects.wishes import Handle, Wish, flag_goes, flag_only, new_words, words, written
from appliance.migrations.dialects.yaml_scalar import safe_plain
from appliance.migrations.dialects.yaml_write import remark
from appliance.migrations.operations import Add, CannotEditError, Raw
from appliance.migrations.values import templated, to_text

_SEPARATOR = re.compile(r"[ \t]*(?:&&|;)?[ \t]*(?:#[^\n]*)?(?:\r?\n[ \t]*)?")


@dataclass(frozen=True, slots=True)
class Place:
    """Words of the command: first and last index. variable: the word is `NAME=value`."""

    first: int
    last: int
    variable: bool = False


@dataclass(eq=False)
class ArgString:
    """One command of a shell text.

    start: index of the first word behind the entrypoint. outer, anchor: the YAML around, and where a remark goes there.
    """

    layer: Layer
    command: list[ShellWord]
    start: int
    outer: Layer
    anchor: int

    def sites(self, borrowed: bool = False, model: bool = True) -> list[OptionSite]:
        return [*self._variables(borrowed), *self._options(borrowed, model)]

    def _options(self, borrowed: bool, model: bool) -> list[OptionSite]:
        listed = [
            Word(word.text, span(self.layer, word.start, word.end), word.opaque, offsets(word.layer(self.layer)))
            for word in self.command[self.start :]
        ]
        found = []
        for site in read_words(listed, model):
            place = Place(site.handle.first + self.start, site.handle.last + self.start)
            where = cut(self.layer, *self._cut(place.first, place.last))
            found.append(replace(site, element=where, handle=Handle(self, place, borrowed)))
        return found

    def _variables(self, borrowed: bool) -> list[OptionSite]:
        found = []
        for index, word in enumerate(self.command[: self.start]):
            size = assignment(word)
            if not size:
                continue
            inlay, value = word.layer(self.layer), word.text[size + 1 :]
            found.append(
                OptionSite(
                    word.text[:size],
                    UNKNOWN if word.opaque or templated(value) else value,
                    Form.ENV,
                    span(inlay, 0, size),
                    cut(self.layer, *self._cut(index, index)),
                    Kind.ENV,
                    raw_name=word.text[:size],
                    raw_value=value,
                    value_span=span(inlay, size + 1, len(word.text)),
                    handle=Handle(self, Place(index, index, True), borrowed),
                )
            )
        return found

    def _cut(self, first: int, last: int) -> tuple[int, int]:
        """The characters that disappear with these words; a variable of `docker run` takes its flag along."""
        if 0 < first < self.start and self.command[first - 1].text in ("-e", "--env"):
            first -= 1
        if self._alone(first, last):
            return self._statement()
        if first == 0:
            following = self.command[last + 1].start if last + 1 < len(self.command) else self.command[last].end
            return self.command[0].start, following
        if last + 1 < len(self.command):
            begins_line = "\n" in self._between(first - 1) and "\n" not in self._between(last)
            if begins_line or (first < self.start and self.command[last].end < len(self.layer.text)):
                return self.command[first].start, self.command[last + 1].start
        return self.command[first - 1].end, self.command[last].end

    def _between(self, index: int) -> str:
        """What is written between a word and the next one; a folded text has blanks where lines end in the file."""
        start, end = self.command[index].end, self.command[index + 1].start
        if not isinstance(self.layer, Inlay):
            return self.layer.text[start:end]
        first, last = self.layer.place(start, end)
        return getattr(self.layer.parent, "text", "")[first:last]

    def _alone(self, first: int, last: int) -> bool:
        """Whether the words are all that an `export`, or a line of assignments, has to say."""
        size = len(self.command)
        exports = self.command[0].text == "export"
        return self.start == size and first == (1 if exports else 0) and last == size - 1

    def _statement(self) -> tuple[int, int]:
        """The command with what separates it from the next one."""
        text = self.layer.text
        start, end = self.command[0].start, self.command[-1].end
        found = _SEPARATOR.match(text, end)
        return (start, found.end()) if found else (start, end)

    def edits(self, wishes: Sequence[Wish], adds: Sequence[Add]) -> list[Edit]:
        found: list[Edit] = []
        gone: set[int] = set()
        for wish in sorted(wishes, key=lambda wish: wish.place.first):
            found += self._wish(wish, gone)
        for add in adds:
            if add.kind is Kind.ENV:
                raise CannotEditError(add, f"set {add.name} by hand")
            found += self._insert(max(len(self.command) - 1, 0), words(add.name, add.value, add.path, False, add))
        if 0 in gone and self._bare():
            left = next((word.text for index, word in enumerate(self.command) if index not in gone), "x")
            if not safe_plain(left):
                raise CannotEditError(wishes[0].operation, "what is left needs quotes in YAML here")
        found += [self.layer.edit(start, end, "") for start, end in self._cuts(gone)]
        for edit in found:
            self._check(edit, wishes, adds)
        return found

    def _cuts(self, gone: set[int]) -> list[tuple[int, int]]:
        if gone and self._alone(min(gone), max(gone)) and len(gone) > max(gone) - min(gone):
            return [self._statement()]
        head = 0
        while head in gone:
            head += 1
        spans = []
        if head:
            end = self.command[head].start if head < len(self.command) else self.command[-1].end
            spans.append((self.command[0].start, end))
        runs: list[tuple[int, int]] = []
        for index in sorted(gone):
            if index > head:
                runs[-1:] = (
                    [(runs[-1][0], index)] if runs and runs[-1][1] == index - 1 else [*runs[-1:], (index, index)]
                )
        return [*spans, *(self._cut(*run) for run in runs)]

    def _check(self, edit: Edit, wishes: Sequence[Wish], adds: Sequence[Add]) -> None:
        """An unquoted YAML scalar cannot hold every text."""
        behind = edit.span.start >= self.outer.bounds(self.anchor, self.anchor)[0]
        if behind and self._bare() and (": " in edit.replacement or " #" in edit.replacement):
            raise CannotEditError((wishes[0].operation if wishes else adds[0]), "the text needs quotes in YAML here")

    def _bare(self) -> bool:
        """Whether the YAML scalar around stands without quotes."""
        return self.outer.text[self.anchor : self.anchor + 1] not in ("'", '"', "|", ">", "&", "!")

    def _wish(self, wish: Wish, gone: set[int]) -> list[Edit]:
        first, last = wish.place.first, wish.place.last
        old = self.command[first : last + 1]
        found: list[Edit] = []
        for comment in wish.comments:
            found += remark(self.outer, self.anchor, comment.text)
        flag = flag_only(wish)
        if wish.removed:
            gone.update(range(first, last + 1))
        elif flag_goes(wish):
            gone.add(first)
        elif wish.place.variable and wish.rewrite:
            name, _, value = written(wish.site, wish.rewrite)
            text = value.text if isinstance(value, Raw) else to_text(value)
            found += self._set(old[0], f"{name}={text}")
        elif flag is not None:
            found += replaced(old[0].layer(self.layer), 0, len(wish.site.raw_name), flag)
        elif wish.rewrite:
            equals = wish.site.form is Form.EQUALS or (len(old) == 1 and not wish.site.quirk and self._equals())
            new = new_words(wish, equals)
            for word, text in zip(old, new, strict=False):
                found += self._set(word, text)
            gone.update(range(first + len(new), last + 1))
            if len(new) > len(old):
                found += self._insert(last, new[len(old) :], " ")
        if wish.inner:
            value = wish.site.raw_value or ""
            size = len(old[-1].text)
            start = max(0, size - len(value)) if len(old) == 1 else 0
            found += inner_json(part(old[-1].layer(self.layer), start, size), wish)
        for add in wish.adds:
            if add.kind is Kind.ENV:
                raise CannotEditError(add, f"set {add.name} by hand")
            found += self._insert(last, words(add.name, add.value, add.path, self._equals(), add))
        return found

    def _set(self, word: ShellWord, text: str) -> list[Edit]:
        if word.text == text:
            return []
        text = self._fitting(text)
        inlay = word.layer(self.layer)
        if word.quotes and set(word.quotes) != {" "}:
            return replaced(inlay, 0, len(word.text), text)
        return [self.layer.edit(word.start, word.end, self._quoted(text))]

    def _insert(self, after: int, new: list[str], gap: str = "") -> list[Edit]:
        if not self.command:
            raise ValueError("no command to add to")
        at = self.command[after].end
        gap = gap or self._gap(after)
        texts_ = [self._quoted(self._fitting(text)) for text in new]
        return [self.layer.edit(at, at, gap + " ".join(texts_))]

    def _quoted(self, text: str) -> str:
        return quoted(text)

    def _fitting(self, text: str) -> str:
        """JSON without blanks where YAML would read `: ` as a mapping."""
        if ": " not in text or not self._bare():
            return text
        try:
            return json.dumps(json.loads(text), separators=(",", ":"), ensure_ascii=False)
        except ValueError:
            return text

    def _gap(self, after: int) -> str:
        """What stands in front of the option that the word belongs to."""
        while after > self.start and not self.command[after].text.startswith("-"):
            after -= 1
        if after <= self.start or after < 1:
            return " "
        written_ = self.layer.text[self.command[after - 1].end : self.command[after].start]
        raw = self._between(after - 1)
        doubly = self.outer.text[self.anchor : self.anchor + 1] == '"'
        if written_ == " " and "\n" in raw and "\\" not in raw and not doubly:
            return "\n"
        return written_ if written_.strip(" \t\r\n") in ("", "\\") else " "

    def _equals(self) -> bool:
        behind = self.command[self.start :]
        joined = sum("=" in word.text for word in behind if word.text.startswith("--"))
        alone = sum(not word.text.startswith("-") for word in behind)
        return joined > max(alone - 1, 0)


class SplitString(ArgString):
    """Options in a variable whose text the shell cuts at blanks, quotes or not."""

    def _quoted(self, text: str) -> str:
        if quoted(text) != text:
            raise ValueError("what a variable brings is cut at blanks, and takes no quotes")
        return text
