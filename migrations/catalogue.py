"""Reads schemas/engine-options.json: every option, nested key and environment variable in every engine release."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import appliance.schemas
from appliance.migrations.release import Release, release

_TUPLES = ("values", "flags", "negations")
PATH = Path(next(iter(appliance.schemas.__path__))) / "engine-options.json"


@dataclass(frozen=True, slots=True)
class Facts:
    """What an option is in one release.

    type: bool int float str choice list json json-or-str bool-or-str. nargs: as in argparse where type leaves it open.
    of: the config class whose fields are its nested keys. open: other values than the listed ones are accepted too.
    numbered: the place of a value in the list may be written for it.
    """

    type: str = "str"
    default: Any = None
    values: tuple[Any, ...] = ()
    open: bool = False
    numbered: bool = False
    flags: tuple[str, ...] = ()
    negations: tuple[str, ...] = ()
    nargs: str | int | None = None
    repeats: bool = False
    bounds: Mapping[str, float] | None = None
    of: str | None = None
    field: str = ""
    deprecated: bool = False

    @property
    def takes_value(self) -> bool:
        """Whether a word after the flag can belong to it."""
        return self.type != "bool" or self.nargs is not None


@dataclass(frozen=True)
class Entry:
    """The life of one option, key or variable. Releases are asked for by their index in the catalogue."""

    name: str
    raw: Mapping[str, Any]
    _made: dict[int, Facts] = field(default_factory=dict, compare=False, repr=False)

    def exists(self, index: int) -> bool:
        return any(first <= index <= last for first, last in self.raw["in"])

    def at(self, index: int) -> Facts | None:
        """None in a release that does not have it."""
        return self._facts(index) if self.exists(index) else None

    def nearest(self, index: int) -> Facts:
        """As `at`, or what it was in the nearest release that had it."""
        indexes = (edge for interval in self.raw["in"] for edge in interval)
        return self.at(index) or self._facts(min(indexes, key=lambda edge: abs(edge - index)))

    @property
    def intervals(self) -> tuple[tuple[int, int], ...]:
        return tuple((first, last) for first, last in self.raw["in"])

    def _facts(self, index: int) -> Facts:
        if index not in self._made:
            self._made[index] = self._assembled(index)
        return self._made[index]

    def _assembled(self, index: int) -> Facts:
        found: dict[str, Any] = {}
        for since, delta in self.raw["at"]:
            if since > index:
                break
            found |= delta
        kept: dict[str, Any] = {key: value for key, value in found.items() if value is not None}
        kept |= {key: tuple(kept[key]) for key in _TUPLES if key in kept}
        return Facts(**kept)


@dataclass(frozen=True, slots=True)
class Free:
    """A key inside a mapping whose keys the engine does not check."""


FREE = Free()


class Catalogue:
    def __init__(self, document: Mapping[str, Any]) -> None:
        self.releases: tuple[Release, ...] = tuple(release(name) for name in document["releases"])
        self._document = document
        self._indexes: dict[Release, int] = {}

    @property
    def newest(self) -> Release:
        return self.releases[-1]

    def index(self, wanted: Release) -> int:
        """The catalogue's snapshot for a release: of the same minor where there is one, else the last one before it."""
        if wanted not in self._indexes:
            minor = [i for i, known in enumerate(self.releases) if known[:2] == wanted[:2]]
            before = [i for i, known in enumerate(self.releases) if known <= wanted]
            in_minor = max((i for i in minor if i in before), default=minor[0]) if minor else None
            self._indexes[wanted] = in_minor if in_minor is not None else before[-1] if before else 0
        return self._indexes[wanted]

    def python(self, wanted: Release) -> str:
        return str(self._document["python"][self.index(wanted)])

    @cached_property
    def options(self) -> Mapping[str, Entry]:
        return _Entries(self._document["options"])

    @cached_property
    def env(self) -> Mapping[str, Entry]:
        return _Entries(self._document["env"])

    @cached_property
    def classes(self) -> Mapping[str, Mapping[str, Entry]]:
        return {name: _Entries(fields) for name, fields in self._document["classes"].items()}

    @cached_property
    def spellings(self) -> Mapping[str, tuple[str, bool]]:
        """Every flag of any release, dashes inside -> (canonical name, whether it says no)."""
        found: dict[str, tuple[str, bool]] = {}
        for name, raw in self._document["options"].items():
            for _, delta in raw["at"]:
                for flag in delta.get("flags") or ():
                    found.setdefault(flag.replace("_", "-"), (name, False))
                for flag in delta.get("negations") or ():
                    found.setdefault(flag, (name, True))
        for name in self._document["options"]:
            found[f"--{name}"] = (name, False)
        return found

    def class_of(self, name: str, index: int) -> str | None:
        """The config class behind an option; releases that took it as bare JSON are given the class of the others."""
        entry = self.options.get(name)
        if entry is None:
            return None
        return entry.nearest(index).of or next((d["of"] for _, d in entry.raw["at"] if d.get("of")), None)

    def key(self, name: str, path: tuple[str, ...], index: int) -> Entry | Free | None:
        """The entry of a nested key, whether or not that release has it; None when no release ever had it there."""
        current = self.class_of(name, index)
        entry: Entry | None = None
        for step in path:
            if current is None or current not in self.classes:
                return FREE
            entry = self.classes[current].get(step)
            if entry is None:
                return None
            current = entry.nearest(index).of
        return entry or FREE


class _Entries(Mapping[str, Entry]):
    def __init__(self, raw: Mapping[str, Any]) -> None:
        self._raw = raw
        self._made: dict[str, Entry] = {}

    def __getitem__(self, name: str) -> Entry:
        if name not in self._made:
            self._made[name] = Entry(name, self._raw[name])
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._raw)

    def __len__(self) -> int:
        return len(self._raw)

    def __contains__(self, name: object) -> bool:
        return name in self._raw


@cache
def catalogue() -> Catalogue:
    return Catalogue(json.loads(PATH.read_text()))
