"""Applies rules to settings, oldest release first, and keeps a record of what each one did."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from typing import TypeAlias

from appliance.migrations.canonical import UNKNOWN, OptionSite, Path, Plain, Value
from appliance.migrations.catalogue import Free, catalogue
from appliance.migrations.conversions import CONVERSIONS, CannotConvertError
from appliance.migrations.matching import fits, holds, look_up
from appliance.migrations.operations import KEEP, Raw
from appliance.migrations.rule import Put, Room, Rule, Target
from appliance.migrations.settings import Leaf, Settings, flat, value_of
from appliance.migrations.values import parse, same, to_text


@dataclass(frozen=True, slots=True)
class Step:
    """One rule that spoke about one site. stuck: why its rewrite could not be made."""

    rule: Rule
    site: OptionSite | None
    value: object = None
    stuck: str = ""


class _StuckError(Exception):
    pass


def apply_rules(rules: Iterable[Rule], settings: Settings, model: str | None) -> list[Step]:
    """Changes the settings; for one target in one release, the first rule whose match fits has the word."""
    steps: list[Step] = []
    answered: set[tuple[int, Target, object]] = set()
    by_name = _by_name(tuple(rules))
    named = settings.named()
    waiting = [place for name in named for place in by_name.get(name, ())]
    heapify(waiting)
    while waiting:
        place, rule = heappop(waiting)
        if not all(holds(condition, settings, model) for condition in rule.touches):
            continue
        groups = settings.at(rule.target)
        scattered = _scattered(rule, groups)
        for site, leaves in groups:
            key = (id(site), rule.target, rule.since)
            value = value_of(leaves, len(rule.target.path))
            if key in answered or not fits(rule.match, value):
                continue
            answered.add(key)
            steps.append(_apply(rule, settings, site, leaves, scattered))
            for name in {(put.target.room, put.target.name) for put in rule.puts or ()} - named:
                named.add(name)
                for later in by_name.get(name, ()):
                    if later[0] > place or rule.alias:
                        heappush(waiting, later)
    return steps


_Ordered: TypeAlias = tuple[int, Rule]
_indexes: dict[int, tuple[tuple[Rule, ...], dict[tuple[Room, str], list[_Ordered]]]] = {}


def _by_name(rules: tuple[Rule, ...]) -> dict[tuple[Room, str], list[_Ordered]]:
    """The rules that rewrite, by what they are about, with their place in the order; made once for each set."""
    known = _indexes.get(id(rules))
    if known is not None and known[0] is rules:
        return known[1]
    found: dict[tuple[Room, str], list[_Ordered]] = {}
    for place, rule in enumerate(rules):
        if rule.puts is not None or not rule.behaviour:
            found.setdefault((rule.target.room, rule.target.name), []).append((place, rule))
    _indexes[id(rules)] = (rules, found)
    return found


def _scattered(rule: Rule, groups: Sequence[tuple[OptionSite, list[Leaf]]]) -> bool:
    """Whether the file sets the target to different values, as branches of a script do."""
    if not rule.puts or len(groups) < 2:
        return False
    said = [value_of(leaves, len(rule.target.path)) for site, leaves in groups if not site.source]
    return any(value is UNKNOWN or not same(value, said[0]) for value in said[1:])


def _apply(rule: Rule, settings: Settings, site: OptionSite, leaves: list[Leaf], scattered: bool) -> Step:
    value = value_of(leaves, len(rule.target.path))
    if rule.puts is None:
        return Step(rule, site, value)
    try:
        for put in rule.puts:
            _check_open(put.target, rule.target, settings, value)
            if scattered and put.target.room is not rule.target.room:
                raise _StuckError(f"it is set to different values; hand the one that counts to {put.target}")
        new = [leaf for put in rule.puts for leaf in _put(put, rule.target, leaves)]
    except _StuckError as stuck:
        return Step(rule, site, value, str(stuck))
    settings.replace(leaves, settings.fitting(_claimed_once(new), leaves))
    return Step(rule, site, value)


def _claimed_once(leaves: list[Leaf]) -> list[Leaf]:
    """Two new leaves may stem from one old one; only the first can be written by renaming it."""
    claimed: set[tuple[int, Path | None]] = set()
    found = []
    for leaf in leaves:
        key = (id(leaf.site), leaf.origin)
        found.append(replace(leaf, origin=None) if key in claimed else leaf)
        claimed.add(key)
    return found


def _check_open(place: Target, old: Target, settings: Settings, value: Value | Raw) -> None:
    """What joins an option that is written as one value: neither of the two may be filled in later."""
    key = ".".join(place.path)
    if place.path and settings.filled_later(place.room, place.name):
        raise _StuckError(f"--{place.name} is filled in later; {key} has to go in there")
    if above := settings.without_keys(place):
        raise _StuckError(f"--{place.name}.{'.'.join(above)} holds no keys, and {key} has to go in there")
    if value is UNKNOWN and place.name != old.name and settings.is_mapping(place.room, place.name):
        how = f" as {key}" if key else ""
        raise _StuckError(f"its value is filled in later; put it into --{place.name}{how}")


def _put(put: Put, target: Target, leaves: list[Leaf]) -> list[Leaf]:
    depth = len(target.path)
    place = put.target
    first = leaves[0]
    if put.value is not KEEP and place == target and len(leaves) == 1 and not isinstance(put.value, dict):
        return [replace(first, value=put.value, changed=put.value != first.value)]
    if put.value is not KEEP:
        # A constant; the first one stands where the old setting stood, so that its site can be rewritten in place.
        return [
            Leaf(place.room, place.name, place.path + path, value, first.site, None) for path, value in flat(put.value)
        ]
    if put.values is None and put.convert is None:
        return [one for leaf in leaves for one in _opened(_moved(leaf, target, place, depth))]
    value = value_of(leaves, depth)
    if value is UNKNOWN or isinstance(value, Raw):
        raise _StuckError("its value is filled in later, so it cannot be translated here")
    try:
        new = look_up(put.values, value) if put.values is not None else value
        new = CONVERSIONS[put.convert](new) if put.convert else new
    except KeyError:
        raise _StuckError("this value has no counterpart") from None
    except CannotConvertError as reason:
        raise _StuckError(str(reason)) from None
    if new is None:
        return []
    if len(leaves) == 1 and not isinstance(new, dict):
        return [replace(first, room=place.room, name=place.name, path=place.path, value=new, changed=new != value)]
    untouched = {leaf.path[depth:]: leaf for leaf in leaves}
    return [
        _changed(untouched[path], place, path, item)
        if path in untouched
        else Leaf(place.room, place.name, place.path + path, item, first.site, None)
        for path, item in flat(new)
    ]


def _changed(leaf: Leaf, place: Target, path: Path, value: Plain) -> Leaf:
    changed = leaf.changed or value != leaf.value
    return replace(leaf, room=place.room, name=place.name, path=place.path + path, value=value, changed=changed)


def _moved(leaf: Leaf, target: Target, place: Target, depth: int) -> Leaf:
    """The leaf at its new place: text becomes what the new key wants; unknown text is taken over as it stands."""
    path = place.path + leaf.path[depth:]
    value = leaf.value
    if value is UNKNOWN and target.room is not place.room:
        if _is_switch(place):
            raise _StuckError(f"--{place.name} takes no value, and this one is filled in later")
        value = Raw(leaf.site.raw_value or "")
    elif isinstance(value, str) and place.room is Room.OPTION:
        value = _typed(value, place.name, path)
    changed = leaf.changed or (value != leaf.value and _text(value) != _text(leaf.value))
    return replace(leaf, room=place.room, name=place.name, path=path, value=value, changed=changed)


def _opened(leaf: Leaf) -> list[Leaf]:
    """Text that has become a mapping, key by key, so that later rules see the keys."""
    if not isinstance(leaf.value, dict) or not leaf.value:
        return [leaf]
    return [replace(leaf, path=leaf.path + path, value=value, origin=None) for path, value in flat(leaf.value)]


def _is_switch(place: Target) -> bool:
    book = catalogue()
    entry = book.options.get(place.name) if place.room is Room.OPTION and not place.path else None
    return entry is not None and not entry.nearest(len(book.releases) - 1).takes_value


def _typed(value: str, name: str, path: Path) -> Value:
    book = catalogue()
    index = len(book.releases) - 1
    key = book.key(name, path, index) if path else book.options.get(name)
    return value if key is None or isinstance(key, Free) else parse(value, key.nearest(index))


def _text(value: Value | Raw) -> str:
    return value.text if isinstance(value, Raw) else "" if value is UNKNOWN else to_text(value)
