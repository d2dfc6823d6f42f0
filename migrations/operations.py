"""What the migrator asks of a dialect; each dialect turns these into edits in its own syntax."""

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from appliance.migrations.canonical import Kind, OptionSite, Path, Plain


class Keep(Enum):
    """Leave what stands there byte for byte."""

    KEEP = "keep"

    def __repr__(self) -> str:
        return "KEEP"


KEEP = Keep.KEEP
MODEL_WORD = ""


@dataclass(frozen=True, slots=True)
class Raw:
    """Text taken over from the old setting as it stands, because something fills it in later: `${BACKEND}`."""

    text: str


NewValue: TypeAlias = Plain | Raw


@dataclass(frozen=True, slots=True)
class Remove:
    """Take the site away, or, with a path, one key inside its JSON or mapping value."""

    site: OptionSite
    path: Path = ()


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Let the site say option `name` (dotted below `name_path`) with `value`.

    The name MODEL_WORD leaves the value alone where option and value stood: the model as the command's first word.
    With a path, `name` is the new key of the nested entry at that path, beside its old siblings. A site that carries a
    quirk is written afresh in the dialect's correct spelling even when name and value are KEEP. A boolean False is
    written the way the format really means it: `--no-x` on a command line, `no-x: true` in the engine's YAML.
    """

    site: OptionSite
    name: str | Keep = KEEP
    value: NewValue | Keep = KEEP
    path: Path = ()
    name_path: Path = ()


@dataclass(frozen=True, slots=True)
class Insert:
    """Put a new key into the JSON or mapping value of the site; missing parents are made."""

    site: OptionSite
    path: Path
    value: NewValue


@dataclass(frozen=True, slots=True)
class Add:
    """A new option or variable, after the site if it is of the same kind, else where the dialect keeps such things.

    With a path, one nested key of the option: `--name.key value` on a command line, a mapping elsewhere.
    """

    name: str
    value: NewValue
    path: Path = ()
    kind: Kind = Kind.OPTION
    after: OptionSite | None = None
    of: OptionSite | None = None
    """What it comes from."""


@dataclass(frozen=True, slots=True)
class Comment:
    """A short remark at the site; a format without comments ignores it, the report carries it anyway.

    The same remark is not written twice: a dialect that finds it there already has nothing to do.
    """

    site: OptionSite
    text: str


# Paths in Remove and Rewrite name keys as they stand in the text; the path of Insert names them as they will be.
Operation: TypeAlias = Remove | Rewrite | Insert | Add | Comment


class CannotEditError(Exception):
    """The dialect cannot carry out this operation safely; the reason goes into the report."""

    def __init__(self, operation: Operation, reason: str) -> None:
        super().__init__(reason)
        self.operation = operation
        self.reason = reason
