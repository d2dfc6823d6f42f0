"""Operations on option sites in word lists, turned into edits: the least that has to change, gap and quotes kept."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from appliance.migrations.argv import write_words
from appliance.migrations.canonical import Edit, Form, Kind, OptionSite, merged
from appliance.migrations.dialects.json_edit import JsonOperation, dump, edit_json
from appliance.migrations.dialects.layers import part, replaced
from appliance.migrations.dialects.pieces import CannotWriteError, WordList
from appliance.migrations.dialects.word_sites import Place
from appliance.migrations.operations import (
    MODEL_WORD,
    Add,
    CannotEditError,
    Insert,
    Keep,
    NewValue,
    Operation,
    Raw,
    Remove,
    Rewrite,
)
from appliance.migrations.values import to_text


@dataclass
class _Plan:
    """What happens to one word list."""

    removed: set[int] = field(default_factory=set)
    written: dict[tuple[int, int], list[str]] = field(default_factory=dict)
    behind: dict[tuple[int, int], list[list[str]]] = field(default_factory=dict)
    edits: list[Edit] = field(default_factory=list)
    latest: Operation | None = None


class WordEditor:
    """Collects operations, then gives the edits. Raises CannotEditError at once for what cannot be done.

    emptied: after `edits`, the lists whose whole statement has to go.
    """

    def __init__(self) -> None:
        self._plans: dict[int, tuple[WordList, _Plan]] = {}
        self._inner: dict[int, tuple[OptionSite, list[JsonOperation]]] = {}
        self.emptied: list[WordList] = []

    def do(self, operation: Operation) -> None:
        try:
            self._do(operation)
        except CannotWriteError as reason:
            raise CannotEditError(operation, str(reason)) from None

    def add(self, words: WordList, first: int, last: int, new: list[str], operation: Operation) -> None:
        """New words, already quoted, behind the words first..last and laid out as these are."""
        plan = self._plan(words)
        plan.behind.setdefault((first, last), []).append(new)
        plan.latest = operation

    def edits(self) -> list[Edit]:
        found: list[Edit] = []
        for site, operations in self._inner.values():
            place: Place = site.handle
            if (place.first, place.last) in self._plan(place.words).written:
                raise CannotEditError(operations[-1], "the option has to be written anew as a whole")
            found += self._inside(site, operations)
        for words, plan in self._plans.values():
            everything = set(range(len(words.pieces) > 1, len(words.pieces)))
            whole = words.statement and not plan.behind and plan.removed >= everything
            if whole and len(words.runs(everything)) == 1:
                self.emptied.append(words)
                continue
            try:
                found += [*plan.edits, *_written(words, plan)]
            except CannotWriteError as reason:
                if plan.latest is None:
                    raise
                raise CannotEditError(plan.latest, str(reason)) from None
        return found

    def _plan(self, words: WordList) -> _Plan:
        return self._plans.setdefault(id(words), (words, _Plan()))[1]

    def _do(self, operation: Operation) -> None:
        match operation:
            case Remove(site=site, path=()):
                place: Place = site.handle
                plan = self._plan(place.words)
                plan.removed.update(range(place.first, place.last + 1))
                plan.latest = operation
            case Remove(site=site) | Insert(site=site) if operation.path:
                self._note_inner(site, operation)
            case Rewrite(site=site, path=path):
                if path:
                    self._note_inner(site, operation)
                else:
                    self._rewrite(site, operation)
            case Add(after=after) if after is not None:
                place = after.handle
                self.add(place.words, place.first, place.last, spelled(place, operation), operation)
            case _:
                raise CannotWriteError("there is no place for it")

    def _note_inner(self, site: OptionSite, operation: JsonOperation) -> None:
        place: Place = site.handle
        if site.value_span is None or place.first + 1 < place.last:
            raise CannotWriteError("the value is no JSON in one word")
        noted = self._inner.setdefault(id(site), (site, []))[1]
        noted.append(operation)
        try:
            self._inside(site, noted)
        except CannotWriteError:
            noted.pop()
            raise

    def _inside(self, site: OptionSite, operations: Sequence[JsonOperation]) -> list[Edit]:
        place: Place = site.handle
        words = place.words
        piece = words.pieces[place.last]
        if piece.opaque:
            raise CannotWriteError("a variable fills in a part of it")
        length = len(site.raw_value or "")
        return edit_json(
            part(piece.inlay(words.layer, words.syntax), len(piece.text) - length, len(piece.text)), operations
        )

    def _rewrite(self, site: OptionSite, operation: Rewrite) -> None:
        place: Place = site.handle
        plan = self._plan(place.words)
        plan.latest = operation
        if site.kind is Kind.ENV:
            plan.edits += _setting(site, place, operation)
            return
        small = _small(site, place, operation)
        if small is not None:
            plan.edits += small
            return
        if operation.name == MODEL_WORD and isinstance(operation.value, Keep) and place.last == place.first + 1:
            plan.removed.add(place.first)
            return
        name = site.name if isinstance(operation.name, Keep) else operation.name
        path = site.path if isinstance(operation.name, Keep) else operation.name_path
        value = _kept(site) if isinstance(operation.value, Keep) else operation.value
        new = option_words(place.words, name, value, path, site.form is Form.EQUALS, site.form is Form.POSITIONAL)
        plan.written[place.first, place.last] = new


def _small(site: OptionSite, place: Place, operation: Rewrite) -> list[Edit] | None:
    """Only the name's characters, only the value's, or both; None when the words have to be written anew."""
    renamed, valued = not isinstance(operation.name, Keep), not isinstance(operation.value, Keep)
    if site.quirk is not None or site.value_span is None or site.raw_value is None or site.form is Form.POSITIONAL:
        return None
    if operation.name == MODEL_WORD:
        return None
    words, first = place.words, place.words.pieces[place.first]
    flag = len(site.raw_name)
    attached = place.first == place.last and first.text[flag : flag + 1] != "="
    if attached or place.first + 1 < place.last or site.form is Form.NEGATION or isinstance(site.value, bool):
        return None
    edits = []
    if renamed:
        new = "--" + ".".join((str(operation.name), *operation.name_path))
        edits.append(first.inlay(words.layer, words.syntax).edit(0, flag, new))
    if valued:
        value = operation.value
        if isinstance(value, bool | list | Raw) or value is None:
            return None
        edits += _new_value(site, place, new_text(words, value))
    return edits


def _new_value(site: OptionSite, place: Place, text: str) -> list[Edit]:
    """The value's own characters; those of the variable's literal when the value was followed to one."""
    words, index, start = place.words, place.last, None
    if place.fixed:
        raise CannotWriteError(place.fixed)
    if place.origin:
        words, index, start = place.origin
    piece = words.pieces[index]
    if piece.opaque:
        raise CannotWriteError("a variable fills in a part of it")
    begin = len(piece.text) - len(site.raw_value or "") if start is None else start
    if not place.origin and piece.mode(begin, len(piece.text)) == " " and begin == 0:
        return [words.layer.edit(piece.start, piece.end, words.syntax.quote(text))]
    return [piece.inlay(words.layer, words.syntax).edit(begin, len(piece.text), text)]


def _setting(site: OptionSite, place: Place, operation: Rewrite) -> list[Edit]:
    """A variable's name, its value, or both."""
    words = place.words
    piece = words.pieces[place.last]
    inlay = piece.inlay(words.layer, words.syntax)
    edits = []
    name = place.inner + len(site.raw_name)
    if not isinstance(operation.name, Keep):
        edits.append(inlay.edit(place.inner, name, operation.name))
    if not isinstance(operation.value, Keep):
        if isinstance(operation.value, Raw) or piece.opaque:
            raise CannotWriteError("a variable fills in a part of it")
        edits.append(inlay.edit(name + 1, len(piece.text), to_text(operation.value)))
    return edits


def _kept(site: OptionSite) -> NewValue:
    return Raw(site.raw_value or "") if not site.known else site.value  # type: ignore[return-value]


def new_text(words: WordList, value: Any) -> str:
    if words.syntax.compact and isinstance(value, dict | list):
        return dump(value, spaced=False)
    return to_text(value)


def option_words(
    words: WordList, name: str, value: NewValue, path: tuple[str, ...], equals: bool, positional: bool = False
) -> list[str]:
    """Quoted words that set an option."""
    flag = "--" + ".".join((name, *path))
    positional = positional or name == MODEL_WORD
    if isinstance(value, Raw):
        raw = words.syntax.raw(value.text)
        return [raw] if positional else [flag, raw]
    if positional:
        return [words.syntax.quote(to_text(value))]
    if isinstance(value, dict):
        text = new_text(words, value)
        return [words.syntax.quote(word) for word in ([f"{flag}={text}"] if equals else [flag, text])]
    return [words.syntax.quote(word) for word in write_words(name, value, path, equals)]


def spelled(place: Place, operation: Add) -> list[str]:
    """The new words as the ones at the place are written."""
    words = place.words
    if operation.kind is Kind.OPTION:
        return option_words(words, operation.name, operation.value, operation.path, equals=False)
    new = setting(words, operation.name, operation.value)
    if place.inner:
        return [words.pieces[place.first].text[: place.inner] + new]
    return [words.layer.text[words.pieces[i].start : words.pieces[i].end] for i in range(place.first, place.last)] + [
        new
    ]


def setting(words: WordList, name: str, value: NewValue) -> str:
    if isinstance(value, Raw):
        return f"{name}={words.syntax.raw(value.text)}"
    if words.syntax.whole:
        return words.syntax.quote(f"{name}={to_text(value)}")
    return f"{name}={words.syntax.quote(to_text(value))}"


def _written(words: WordList, plan: _Plan) -> list[Edit]:
    edits: list[Edit] = []
    behind = dict(plan.behind)
    for (first, last), groups in plan.behind.items():
        if last in plan.removed:
            plan.removed -= set(range(first, last + 1))
            plan.written[first, last] = groups[0]
            behind[first, last] = groups[1:]
    for (first, last), new in plan.written.items():
        plan.removed -= set(range(first, last + 1))
        if last == first + 1 and len(new) == 2:
            edits += _whole(words, first, first, new[0]) + _whole(words, last, last, new[1])
        else:
            edits += _whole(words, first, last, words.syntax.separator.join(new))
    for start, end in merged(words.removal(first, last) for first, last in words.runs(plan.removed)):
        edits.append(words.layer.edit(start, end, ""))
    for (first, last), groups in behind.items():
        gap = words.gap_of(first)
        at = words.pieces[last].end
        if groups:
            edits.append(words.layer.edit(at, at, "".join(gap + words.syntax.separator.join(new) for new in groups)))
    return edits


def _whole(words: WordList, first: int, last: int, new: str) -> list[Edit]:
    return replaced(words.layer, words.pieces[first].start, words.pieces[last].end, new)
