"""The state that rules work on: every option site taken apart into leaves, each knowing where it came from."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

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


@dataclass
class Settings:
    """All leaves of one deployment, in the order of their sites."""

    leaves: list[Leaf] = field(default_factory=list)

    @classmethod
    def read(cls, sites: Iterable[OptionSite]) -> "Settings":
        return cls([leaf for site in sites for leaf in leaves_of(site)])

    def at(self, target: Target) -> list[tuple[OptionSite, list[Leaf]]]:
        """What stands at or below the target, site by site."""
        found: dict[int, tuple[OptionSite, list[Leaf]]] = {}
        for leaf in self.leaves:
            if leaf.below(target):
                found.setdefault(id(leaf.site), (leaf.site, []))[1].append(leaf)
        return list(found.values())

    def named(self) -> set[tuple[Room, str]]:
        """Every option and variable that is there."""
        return {(leaf.room, leaf.name) for leaf in self.leaves}

    def names(self, target: Target) -> bool:
        """Whether the option or variable is there at all, whatever the path."""
        return any(leaf.name == target.name and leaf.room is target.room for leaf in self.leaves)

    def sets(self, target: Target) -> bool:
        return any(leaf.below(target) for leaf in self.leaves)

    def replace(self, old: list[Leaf], new: list[Leaf]) -> None:
        """Puts the new leaves where the old ones stood."""
        gone = {id(leaf) for leaf in old}
        place = next(index for index, leaf in enumerate(self.leaves) if id(leaf) in gone)
        kept = [leaf for leaf in self.leaves[place:] if id(leaf) not in gone]
        self.leaves[place:] = [*new, *kept]

    def fitting(self, new: Iterable[Leaf]) -> list[Leaf]:
        """Those of the new leaves whose place is still free: what a person wrote wins over what a rule adds."""
        taken = {(leaf.room, leaf.name, leaf.path) for leaf in self.leaves}
        fit = []
        for leaf in new:
            key = (leaf.room, leaf.name, leaf.path)
            if key not in taken:
                taken.add(key)
                fit.append(leaf)
        return fit


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
