"""Every field of the profile with its declaration, found by walking the classes."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from .root import Profile
from .setting import Section


@dataclass(frozen=True)
class Declared:
    """One leaf, or one section (then `reload` is empty)."""

    path: str
    """Dotted; items of lists as `model.adapters[].name`."""
    info: FieldInfo
    section: type[Section] | None
    """The mapping that stands here, or in each item of the list here."""

    @property
    def extra(self) -> dict[str, Any]:
        extra = self.info.json_schema_extra
        return dict(extra) if isinstance(extra, dict) else {}

    @property
    def reload(self) -> str:
        return str(self.extra.get("x-reload", ""))

    @property
    def option(self) -> str:
        return str(self.extra.get("x-option", ""))

    @property
    def words(self) -> tuple[str, ...]:
        """The literal strings the field may hold."""
        return words_of(self.info.annotation)


def words_of(annotation: Any) -> tuple[str, ...]:
    if get_origin(annotation) is Literal:
        return tuple(word for word in get_args(annotation) if isinstance(word, str))
    if get_origin(annotation) in (Union, UnionType, Annotated, tuple):
        parts = get_args(annotation)
        booleans = ("true", "false") if bool in parts else ()
        return (*booleans, *(word for part in parts for word in words_of(part)))
    return ()


def section_of(annotation: Any) -> type[Section] | None:
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return annotation
    return next((found for part in get_args(annotation) if (found := section_of(part))), None)


def walk(kind: type[Section] = Profile, prefix: str = "") -> Iterator[Declared]:
    for name, info in kind.model_fields.items():
        path = f"{prefix}{info.alias or name}"
        inner = section_of(info.annotation)
        yield Declared(path, info, inner)
        if inner:
            yield from walk(inner, f"{path}[]." if get_origin(info.annotation) is tuple else f"{path}.")


@cache
def all_fields() -> dict[str, Declared]:
    return {field.path: field for field in walk()}


def leaves() -> dict[str, Declared]:
    """Fields that hold a value of their own, with a reload class."""
    return {path: field for path, field in all_fields().items() if field.reload}
