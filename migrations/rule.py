"""Rules as data: one dated change of the engine's options, and what to do about it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from appliance.migrations.canonical import Path, Plain
from appliance.migrations.operations import KEEP, Keep
from appliance.migrations.release import Release


class Nature(StrEnum):
    """What the release did."""

    NO_EFFECT = "removed without effect"
    REPLACED = "replaced"
    GONE = "removed, needs a decision"
    RENAMED = "renamed"
    INVERTED = "inverted"
    VALUE = "value renamed"
    MOVED = "moved"
    MEANING = "meaning changed"
    DEFAULT = "default changed"
    REQUEST = "request field changed"
    STREAM = "stream event changed"
    METRIC = "metric renamed"
    PLATFORM = "platform requirement changed"


BEHAVIOUR = frozenset({Nature.MEANING, Nature.DEFAULT, Nature.REQUEST, Nature.STREAM, Nature.METRIC, Nature.PLATFORM})


class Room(StrEnum):
    """Where a target lives."""

    OPTION = "option"
    ENV = "environment variable"
    REQUEST = "request field"
    STREAM = "stream event"
    METRIC = "metric"
    PLATFORM = "platform"


@dataclass(frozen=True, slots=True)
class Target:
    room: Room
    name: str
    path: Path = ()

    def __str__(self) -> str:
        dotted = ".".join((self.name, *self.path))
        return f"--{dotted}" if self.room is Room.OPTION else dotted


def option(name: str, path: str = "") -> Target:
    """`option("compilation-config", "pass_config.enable_sp")`"""
    return Target(Room.OPTION, name, tuple(path.split(".")) if path else ())


def env(name: str) -> Target:
    return Target(Room.ENV, name)


def request(name: str) -> Target:
    return Target(Room.REQUEST, name)


@dataclass(frozen=True, slots=True)
class Is:
    """The value is one of these; texts are compared without case, and `1`, `true`, `yes`, `on` count as True."""

    values: tuple[Plain, ...]


@dataclass(frozen=True, slots=True)
class IsNot:
    values: tuple[Plain, ...]


@dataclass(frozen=True, slots=True)
class Like:
    """The value as text matches this pattern from its start."""

    pattern: str


Match: TypeAlias = Is | IsNot | Like


@dataclass(frozen=True, slots=True)
class Sets:
    """The deployment sets the target (to a matching value)."""

    target: Target
    match: Match | None = None


@dataclass(frozen=True, slots=True)
class Lacks:
    """The deployment does not set the target."""

    target: Target


@dataclass(frozen=True, slots=True)
class ModelLike:
    """The model's name matches this pattern somewhere, without case."""

    pattern: str


# Names of models that take pictures or films.
VISION = r"vl\b|vision|llava|pixtral|ocr|internvl|gemma-?[34]|omni|llama-?4"


@dataclass(frozen=True, slots=True)
class Below:
    """The deployment sets both targets to numbers, and the first is the smaller one."""

    target: Target
    other: Target


Condition: TypeAlias = Sets | Lacks | ModelLike | Below


@dataclass(frozen=True, slots=True)
class Put:
    """Sets `target` instead of the old setting.

    value: KEEP carries the old value over; anything else is written as it stands.
    values: old value -> new value; an old value that is not in it is left to a person. A None on the right side means:
        write nothing.
    convert: name of a conversion in migrations/conversions.py, for values that change their shape.
    merge: a mapping is merged into what stands there already; what stands there wins.
    """

    target: Target
    value: Plain | Keep = KEEP
    values: Mapping[Plain, Plain] | None = None
    convert: str | None = None
    merge: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """code: `VM` + two digits of the minor release + two digits, never reused.

    since: the first release that has the change.
    puts: what is written instead; an empty tuple removes the setting; None leaves the text alone and only reports.
    safe: whether the rewrite keeps the meaning. An unsafe rewrite is still made, because the old text would not start,
        but it is listed as a decision and marked at the spot.
    reason: one sentence for an operator. evidence: file:line in which release, or what was measured.
    before, after: the example, as a command line with variables in front of it; it is this rule's test.
    touches: all of these must hold; used for changes of defaults and meanings.
    """

    code: str
    since: Release
    nature: Nature
    target: Target
    reason: str
    evidence: str
    match: Match | None = None
    puts: tuple[Put, ...] | None = None
    safe: bool = True
    touches: tuple[Condition, ...] = ()
    before: str = ""
    after: str = ""
    advice: str = field(default="")
    alias: bool = False
    """The old name was another spelling of the new one, so that older rules about that one hold, too."""

    @property
    def way_out(self) -> str:
        """What to do where the rule's own rewrite is not made."""
        if self.advice or self.puts is None:
            return self.advice
        return "write " + " and ".join(str(put.target) for put in self.puts) if self.puts else "delete it"

    @property
    def behaviour(self) -> bool:
        """The text may stay as it is; what it does is another thing."""
        return self.nature in BEHAVIOUR
