"""The state that rules work on: every option site taken apart into leaves, each knowing where it came from."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from appliance.migrations.canonical import UNKNOWN, Kind, OptionSite, Path, Plain, Unknown, Value
from appliance.migrations.operations import Raw
from appliance.migrations.rule import Room, Target

_ROOMS = {Kind.OPTION: Room.OPTION, Kind.ENV: Room.ENV}


@dataclass(frozen=True, slots=True)
class Leaf:
    """One scalar, list or empty mapping.

    site, origin: the site it was read from and the path inside that site's value; origin is None for what a rule added.
    changed: the value is no longer what the site says.
    """

    room: Room
    name: str
    path: Path
    value: Value | Raw
    site: OptionSite
    origin: Path | None
    changed: bool = False

    def below(self, target: Target) -> bool:
        return (self.room, self.name) == (target.room, target.name) and self.path[: len(target.path)] == target.path


Place: TypeAlias = tuple[Room, str, Path]
Spelling: TypeAlias = tuple[Kind, str, Path]


class Settings:
    """All leaves of one deployment, in the order of their sites. Every question costs what it finds, not what is there.

    A leaf of the text has a slot of its own; what a rule puts in its place stands in that slot.
    """

    def __init__(self, leaves: Iterable[Leaf] = ()) -> None:
        self._slots: list[list[Leaf]] = []
        self._slot: dict[int, int] = {}
        self._named: dict[tuple[Room, str], dict[int, Leaf]] = {}
        self._taken: Counter[Place] = Counter()
        self._keyless: Counter[Place] = Counter()
        self._spelled: Counter[tuple[Place, Spelling]] = Counter()
        self._sent: Counter[tuple[Place, int]] = Counter()
        self._open: Counter[tuple[Room, str]] = Counter()
        self._mapped: Counter[tuple[Room, str]] = Counter()
        self._flat: list[Leaf] | None = None
        for leaf in leaves:
            self._slots.append([leaf])
            self._note(leaf, len(self._slots) - 1)

    @classmethod
    def read(cls, sites: Iterable[OptionSite]) -> "Settings":
        return cls(leaf for site in sites for leaf in leaves_of(site))

    @property
    def leaves(self) -> list[Leaf]:
        """A list to look at; changes are made by `replace`."""
        if self._flat is None:
            self._flat = [leaf for slot in self._slots for leaf in slot]
        return self._flat

    def at(self, target: Target) -> list[tuple[OptionSite, list[Leaf]]]:
        """What stands at or below the target, site by site."""
        named = self._named.get((target.room, target.name))
        if not named:
            return []
        depth = len(target.path)
        leaves = [leaf for leaf in named.values() if leaf.path[:depth] == target.path]
        leaves.sort(key=lambda leaf: self._slot[id(leaf)])
        found: dict[int, tuple[OptionSite, list[Leaf]]] = {}
        for leaf in leaves:
            found.setdefault(id(leaf.site), (leaf.site, []))[1].append(leaf)
        return list(found.values())

    def named(self) -> set[tuple[Room, str]]:
        """Every option and variable that is there."""
        return {name for name, leaves in self._named.items() if leaves}

    def sets(self, target: Target) -> bool:
        named = self._named.get((target.room, target.name), {})
        return any(leaf.below(target) for leaf in named.values())

    def filled_later(self, room: Room, name: str) -> bool:
        """Whether something fills in the option's value as a whole."""
        return self._open[room, name] > 0

    def is_mapping(self, room: Room, name: str) -> bool:
        """Whether the option is written as one mapping."""
        return self._mapped[room, name] > 0

    def without_keys(self, target: Target) -> Path:
        """Of what stands above the target and inside of its option, what can hold no key; empty = nothing."""
        above = (target.path[:depth] for depth in range(1, len(target.path)))
        return next((path for path in above if self._keyless[target.room, target.name, path] > 0), ())

    def replace(self, old: Sequence[Leaf], new: Iterable[Leaf]) -> None:
        """Puts the new leaves where the first of the old ones stood."""
        first = min(old, key=lambda leaf: self._slot[id(leaf)])
        slot = self._slot[id(first)]
        place = next(index for index, leaf in enumerate(self._slots[slot]) if leaf is first)
        for leaf in old:
            own = self._slots[self._slot.pop(id(leaf))]
            own[:] = [other for other in own if other is not leaf]
            del self._named[leaf.room, leaf.name][id(leaf)]
            self._count(leaf, -1)
        added = list(new)
        self._slots[slot][place:place] = added
        for leaf in added:
            self._note(leaf, slot)
        self._flat = None

    def fitting(self, new: Iterable[Leaf], old: Iterable[Leaf]) -> list[Leaf]:
        """Those of the new leaves whose place is free once the old ones are gone: what a person wrote wins.

        What the same old option sent there from another site is no hindrance: two branches of a script may both name
        it, and only one of them runs.
        """
        gone = list(old)
        left = Counter(_place(leaf) for leaf in gone)
        sites = {id(leaf.site): leaf.site for leaf in gone}.values()
        fit: dict[Place, Leaf] = {}
        for leaf in new:
            key = _place(leaf)
            again = sum(self._spelled[key, _spelling(site)] - self._sent[key, id(site)] for site in sites)
            if self._taken[key] - again <= left[key]:
                fit.setdefault(key, leaf)
        return list(fit.values())

    def _note(self, leaf: Leaf, slot: int) -> None:
        self._slot[id(leaf)] = slot
        self._named.setdefault((leaf.room, leaf.name), {})[id(leaf)] = leaf
        self._count(leaf, 1)

    def _count(self, leaf: Leaf, by: int) -> None:
        place = _place(leaf)
        self._taken[place] += by
        self._keyless[place] += by * (leaf.value != {})
        self._spelled[place, _spelling(leaf.site)] += by
        self._sent[place, id(leaf.site)] += by
        if not leaf.site.path:
            self._open[leaf.room, leaf.name] += by * (leaf.value is UNKNOWN and not leaf.path)
            self._mapped[leaf.room, leaf.name] += by * isinstance(leaf.site.value, dict)


def _place(leaf: Leaf) -> Place:
    return leaf.room, leaf.name, leaf.path


def _spelling(site: OptionSite) -> Spelling:
    return site.kind, site.name, site.path


def leaves_of(site: OptionSite) -> list[Leaf]:
    room = _ROOMS[site.kind]
    value = site.value
    if site.kind is Kind.ENV or value is UNKNOWN or isinstance(value, Unknown):
        return [Leaf(room, site.name, site.path, value, site, ())]
    return [Leaf(room, site.name, site.path + path, leaf, site, path) for path, leaf in flat(value)]


def flat(value: Plain, path: Path = ()) -> Iterator[tuple[Path, Plain]]:
    """The leaves of a mapping with their paths; anything else, and an empty mapping, is a leaf itself."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from flat(inner, (*path, key))
    else:
        yield path, value


def nest(pairs: Iterable[tuple[Path, Any]]) -> Any:
    """The mapping whose leaves these are; the value itself for the single empty path."""
    result: dict[str, Any] = {}
    for path, value in pairs:
        if not path:
            return value
        inner = result
        for step in path[:-1]:
            inner = inner.setdefault(step, {})
        inner[path[-1]] = value
    return result


def value_of(leaves: list[Leaf], depth: int) -> Value | Raw:
    """The value at a path of `depth` steps that these leaves make up; UNKNOWN when a part of it is."""
    if any(leaf.value is UNKNOWN or isinstance(leaf.value, Raw) for leaf in leaves):
        return UNKNOWN
    found: Value = nest((leaf.path[depth:], leaf.value) for leaf in leaves)
    return found
