"""The operations on one deployment sorted by the site that they are about."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from appliance.migrations.argv import write_words
from appliance.migrations.canonical import UNKNOWN, Deployment, Edit, Form, OptionSite, Path
from appliance.migrations.operations import (
    MODEL_WORD,
    Add,
    CannotEditError,
    Comment,
    Insert,
    Keep,
    NewValue,
    Operation,
    Raw,
    Remove,
    Rewrite,
)
from appliance.migrations.values import to_text

_WRITTEN = re.compile(r"\{\{.*\|\s*(?:quote|squote|toJson|toYaml|toRawJson)\b")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


@dataclass
class Wish:
    """Everything asked of one site."""

    site: OptionSite
    removed: Remove | None = None
    rewrite: Rewrite | None = None
    inner: list[Operation] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    adds: list[Add] = field(default_factory=list)

    @property
    def place(self) -> Any:
        return self.site.handle.place

    @property
    def operation(self) -> Operation:
        """To name in an error."""
        return next(op for op in (self.rewrite, self.removed, *self.inner, *self.comments, *self.adds) if op)


class Sink(Protocol):
    """A place in a file that holds sites of one kind and takes their edits."""

    def edits(self, wishes: Sequence[Wish], adds: Sequence[Add]) -> list[Edit]: ...


@dataclass(frozen=True, slots=True)
class Handle:
    """place: the sink's own note. borrowed: another deployment of the file edits it, they share it by an anchor."""

    sink: Sink
    place: Any
    borrowed: bool = False


@dataclass(frozen=True, slots=True)
class Homes:
    """Where a deployment takes new options and variables."""

    options: Sink | None = None
    env: Sink | None = None
    shared: frozenset[int] = frozenset()


def edits_of(deployment: Deployment, operations: Sequence[Operation]) -> list[Edit]:
    """Raises CannotEditError."""
    if not deployment.editable and operations:
        raise CannotEditError(operations[0], "this file is only read")
    wishes: dict[int, Wish] = {}
    homeless: dict[int, tuple[Sink, list[Add]]] = {}
    for operation in operations:
        if isinstance(operation, Add):
            _add(deployment, operation, wishes, homeless)
            continue
        wish = wishes.setdefault(id(operation.site), Wish(operation.site))
        match operation:
            case Remove(path=()):
                wish.removed = operation
            case Rewrite(path=()):
                wish.rewrite = operation
            case Comment():
                wish.comments.append(operation)
            case Remove() | Rewrite() | Insert():
                wish.inner.append(operation)
    by_sink: dict[int, tuple[Sink, list[Wish]]] = {}
    for wish in wishes.values():
        if not wish.site.handle.borrowed:
            by_sink.setdefault(id(wish.site.handle.sink), (wish.site.handle.sink, []))[1].append(wish)
    found: list[Edit] = []
    for key in dict.fromkeys([*by_sink, *homeless]):
        sink = (by_sink.get(key) or homeless[key])[0]
        mine = by_sink[key][1] if key in by_sink else []
        adds = homeless[key][1] if key in homeless else []
        try:
            made = sink.edits(mine, adds)
        except ValueError as error:
            raise CannotEditError(mine[0].operation if mine else adds[0], str(error)) from None
        if any(_CONTROL.search(edit.replacement) for edit in made):
            raise CannotEditError(mine[0].operation if mine else adds[0], "a value holds control characters")
        found += made
    return sorted(dict.fromkeys(found), key=_rank)


def _rank(edit: Edit) -> tuple[int, int, int, int]:
    """At one place, new lines come first, inner ones ahead; then remarks on what follows, then what follows itself."""
    text = edit.replacement.lstrip(" ")
    kind = (1 if text.startswith("#") else 0) if text.endswith("\n") else 2
    inner = len(text) - len(edit.replacement) if kind == 0 else 0
    return edit.span.start, edit.span.end, kind, 2 * inner - text.startswith("- ")


def _add(
    deployment: Deployment, operation: Add, wishes: dict[int, Wish], homeless: dict[int, tuple[Sink, list[Add]]]
) -> None:
    after = operation.after
    if after is not None and after.kind is operation.kind:
        wishes.setdefault(id(after), Wish(after)).adds.append(operation)
        return
    homes = deployment.handle
    home = homes.env if operation.kind == "env" else homes.options
    if home is None:
        raise CannotEditError(operation, f"there is no place for {operation.name} here; add it by hand")
    if id(home) in homes.shared:
        if all(wish.site.handle.borrowed for wish in wishes.values()):
            return
        raise CannotEditError(operation, f"several services share this list; add {operation.name} by hand")
    homeless.setdefault(id(home), (home, []))[1].append(operation)


def written(site: OptionSite, rewrite: Rewrite) -> tuple[str, Path, NewValue]:
    """Name, path and value that the site has to say."""
    keeps = isinstance(rewrite.name, Keep)
    name = site.name if isinstance(rewrite.name, Keep) else rewrite.name
    path = rewrite.name_path or (site.path if keeps else ())
    if not isinstance(rewrite.value, Keep):
        return name, path, rewrite.value
    return name, path, Raw(site.raw_value or "") if site.value is UNKNOWN else site.value


def words(name: str, value: NewValue, path: Path, equals: bool, operation: Operation) -> list[str]:
    """As arguments of a command line."""
    if not isinstance(value, Raw):
        return write_words(name, value, path, equals)
    if not value.text:
        raise CannotEditError(operation, "its value comes from somewhere else")
    if _WRITTEN.search(value.text):
        raise CannotEditError(operation, "its template writes quotes, which belong to the place where it stands")
    flag = "--" + ".".join((name, *path))
    return [f"{flag}={value.text}"] if equals else [flag, value.text]


def new_words(wish: Wish, equals: bool) -> list[str]:
    """The arguments of a rewritten site."""
    assert wish.rewrite is not None
    site = wish.site
    name, path, value = written(site, wish.rewrite)
    if site.form is Form.POSITIONAL or name == MODEL_WORD:
        return [value.text if isinstance(value, Raw) else to_text(value)]
    return words(name, value, path, equals, wish.rewrite)


def flag_goes(wish: Wish) -> bool:
    """Whether the value stays as it is written and only the flag in front of it goes."""
    rewrite = wish.rewrite
    apart = wish.site.form is Form.FLAG and wish.place.last == wish.place.first + 1
    return rewrite is not None and rewrite.name == MODEL_WORD and isinstance(rewrite.value, Keep) and apart


def flag_only(wish: Wish) -> str | None:
    """The new flag where nothing but the flag's name changes."""
    rewrite, site = wish.rewrite, wish.site
    if rewrite is None or site.quirk is not None or isinstance(rewrite.name, Keep) or rewrite.name == MODEL_WORD:
        return None
    if not isinstance(rewrite.value, Keep) or (site.raw_value is None and rewrite.name_path):
        return None
    if site.form not in (Form.FLAG, Form.EQUALS, Form.NEGATION) and not (
        site.form is Form.SHORT and site.raw_name != "-O"
    ):
        return None
    negation = "no-" if site.form is Form.NEGATION else ""
    return f"--{negation}" + ".".join((rewrite.name, *rewrite.name_path))
