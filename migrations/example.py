"""The canonical text of a deployment, `VAR=value ... --option value ...`: rule examples are written and proved in it.

It is a command line as a shell would take it, read and written without regard for its layout.
"""

import copy
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from appliance.migrations.argv import Range, Word, read_words, write_words
from appliance.migrations.canonical import UNKNOWN, Form, Kind, OptionSite, Path, Span
from appliance.migrations.change import Change
from appliance.migrations.operations import MODEL_WORD, Add, Insert, Keep, NewValue, Operation, Raw, Remove, Rewrite
from appliance.migrations.values import templated, to_text


@dataclass(frozen=True, slots=True)
class Example:
    words: tuple[str, ...]
    sites: tuple[OptionSite, ...]


def read_example(text: str) -> Example:
    """Raises ValueError on unclosed quotes."""
    parts = shlex.split(text)
    words: list[Word] = []
    offset = 0
    for part in parts:
        words.append(Word(part, Span(offset, offset + len(part))))
        offset += len(part) + 1
    count = next((i for i, part in enumerate(parts) if "=" not in part or part.startswith("-")), len(parts))
    variables = [_variable(word, index) for index, word in enumerate(words[:count])]
    options = read_words(words[count:])
    shifted = [_shifted(site, count) for site in options]
    return Example(tuple(parts), (*variables, *shifted))


def rewrite(example: Example, changes: Iterable[Change]) -> str:
    """The text after the changes' operations; comments have no place in it."""
    slots: list[list[str]] = [[word] for word in example.words]
    values: dict[int, Any] = {}
    added: list[str] = []
    for operation in [operation for change in changes for operation in change.operations]:
        _carry_out(operation, slots, values, added)
    for site in example.sites:
        if id(site) in values:
            _write(slots, site, _named(slots, site), values[id(site)])
    variables = [word for word in added if not word.startswith("\0")]
    options = [word[1:] for word in added if word.startswith("\0")]
    return shlex.join([*variables, *(word for slot in slots for word in slot), *options])


def _variable(word: Word, index: int) -> OptionSite:
    name, _, value = word.text.partition("=")
    start = len(name) + 1
    return OptionSite(
        name,
        UNKNOWN if templated(value) else value,
        Form.ENV,
        word.part(0, len(name)),
        word.span,
        Kind.ENV,
        raw_name=name,
        raw_value=value,
        value_span=word.part(start, len(word.text)),
        handle=Range(index, index),
    )


def _shifted(site: OptionSite, count: int) -> OptionSite:
    moved = copy.copy(site)
    object.__setattr__(moved, "handle", Range(site.handle.first + count, site.handle.last + count))
    return moved


def _carry_out(operation: Operation, slots: list[list[str]], values: dict[int, Any], added: list[str]) -> None:
    match operation:
        case Remove(site=site, path=()):
            _put(slots, site, [])
        case Remove(site=site, path=path):
            parent = _inside(values, site, path[:-1])
            del parent[path[-1]]
        case Rewrite(site=site, path=()):
            name = site.name if isinstance(operation.name, Keep) else operation.name
            path = operation.name_path or (site.path if isinstance(operation.name, Keep) else ())
            value = _kept(site) if isinstance(operation.value, Keep) else operation.value
            _put(slots, site, _words(site, name, value, path))
        case Rewrite(site=site, path=path):
            parent = _inside(values, site, path[:-1])
            key = path[-1] if isinstance(operation.name, Keep) else operation.name
            value = parent[path[-1]] if isinstance(operation.value, Keep) else operation.value
            renamed = {
                (key if old == path[-1] else old): (value if old == path[-1] else v) for old, v in parent.items()
            }
            parent.clear()
            parent.update(renamed)
        case Insert(site=site, path=path, value=value):
            parent = _inside(values, site, path[:-1])
            parent[path[-1]] = value.text if isinstance(value, Raw) else value
        case Add(kind=Kind.ENV):
            added.append(f"{operation.name}={_text(operation.value)}")
        case Add(after=after):
            new = _plain_words(operation.name, operation.value, operation.path)
            if after is not None:
                slots[after.handle.last].extend(new)
            else:
                added.extend(f"\0{word}" for word in new)
        case _:
            pass


def _inside(values: dict[int, Any], site: OptionSite, path: Path) -> dict[str, Any]:
    """The mapping at a path of the site's value, made where it is missing; changes to it are written at the end."""
    current: Any = values.setdefault(id(site), copy.deepcopy(site.value))
    for step in path:
        current = current.setdefault(step, {})
    return dict_of(current)


def dict_of(value: Any) -> dict[str, Any]:
    """Raises TypeError for anything that holds no keys."""
    if not isinstance(value, dict):
        raise TypeError(f"{value!r} has no keys")
    return value


def _kept(site: OptionSite) -> NewValue:
    if site.value is UNKNOWN:
        return Raw(site.raw_value or "")
    return site.value


def _words(site: OptionSite, name: str, value: NewValue, path: Path) -> list[str]:
    if site.kind is Kind.ENV:
        return [f"{name}={_text(value)}"]
    if site.form is Form.POSITIONAL or name == MODEL_WORD:
        return [_text(value)]
    if site.form is Form.EQUALS and not isinstance(value, Raw):
        return write_words(name, value, path, equals=True)
    return _plain_words(name, value, path)


def _plain_words(name: str, value: NewValue, path: Path) -> list[str]:
    if isinstance(value, Raw):
        return ["--" + ".".join((name, *path)), value.text]
    return write_words(name, value, path)


def _text(value: NewValue) -> str:
    return value.text if isinstance(value, Raw) else to_text(value)


def _put(slots: list[list[str]], site: OptionSite, words: Sequence[str]) -> None:
    """Replaces the site's words; what was added behind it stays."""
    count = site.handle.last - site.handle.first + 1
    extra = slots[site.handle.last][1:] if count else []
    for index in range(site.handle.first, site.handle.last + 1):
        slots[index] = []
    slots[site.handle.first] = list(words)
    slots[site.handle.last] = [*slots[site.handle.last], *extra]


def _named(slots: list[list[str]], site: OptionSite) -> str:
    """The flag that now stands where the site stood."""
    word: str = slots[site.handle.first][0]
    return word.partition("=")[0].lstrip("-")


def _write(slots: list[list[str]], site: OptionSite, name: str, value: Any) -> None:
    head, *path = name.split(".")
    slots[site.handle.first] = _words(site, site.name if site.form is Form.SHORT else head, value, tuple(path))
    for index in range(site.handle.first + 1, site.handle.last + 1):
        slots[index] = []
