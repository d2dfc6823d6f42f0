"""What the catalogue says about the settings left after the rules: unknown names, bad values, releases too new."""

from collections.abc import Iterator
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from appliance.diagnostics import Severity
from appliance.migrations.argv import OPTIMIZE
from appliance.migrations.canonical import UNKNOWN, Form, Path
from appliance.migrations.catalogue import Catalogue, Entry, Facts, Free
from appliance.migrations.change import Change, Part
from appliance.migrations.operations import Raw
from appliance.migrations.release import Release
from appliance.migrations.rule import Room, Target
from appliance.migrations.settings import Leaf, Settings
from appliance.migrations.values import SECRETS, as_bool, parse_number, to_text

MODALITIES = ("image", "video", "audio")
UNKNOWN_KEY = "VM0005"
# From this release on the engine refuses nested keys it does not know; before, it mostly ignored them.
_STRICT = Release(0, 16)
_REMOVE = "remove it"
# options of servers around the engine's, which take them out before it sees them
_WRAPPERS = ("kaito-",)
_ABBREVIABLE = (Form.FLAG, Form.EQUALS, Form.YAML_KEY)
_OPERATORS = {"gt": ("above", float.__gt__), "ge": ("at least", float.__ge__)}
_OPERATORS |= {"lt": ("below", float.__lt__), "le": ("at most", float.__le__)}


def check_settings(
    book: Catalogue, settings: Settings, start: Release | None, target: Release, told: frozenset[tuple[int, Path]]
) -> list[Change]:
    """Spells abbreviations in full and takes out nested keys that were always ignored; all else is only told.

    told: ids of sites, and paths in them, about which a rule has already said what is wrong.
    """
    changes: list[Change] = []
    index = book.index(target)
    for leaf in settings.leaves:
        if leaf.room is Room.OPTION and leaf.name not in book.options and not leaf.path and leaf.name != OPTIMIZE:
            full = _abbreviated(book, leaf, index)
            if full:
                settings.replace([leaf], [replace(leaf, name=full)])
                changes.append(_spelled(leaf, full))
    lenient = start is None or start < _STRICT
    for leaf in settings.leaves:
        if any((id(leaf.site), leaf.path[:depth]) in told for depth in range(len(leaf.path) + 1)):
            continue
        found = list(_variable(book, leaf, index) if leaf.room is Room.ENV else _option(book, leaf, index))
        if lenient and any(change.code == UNKNOWN_KEY for change in found):
            settings.replace([leaf], [])
            found = [_ignored(change) for change in found]
        changes += found
    return changes


def _ignored(change: Change) -> Change:
    """Taking out a key that did nothing is safe, unless it was meant to be another one."""
    if change.code != UNKNOWN_KEY or change.way_out != _REMOVE:
        return change
    return replace(change, part=Part.CHANGED, message=f"{change.message}; it was ignored", way_out="")


def _abbreviated(book: Catalogue, leaf: Leaf, index: int) -> str | None:
    if leaf.site.form not in _ABBREVIABLE:
        return None
    longer = [name for name, entry in book.options.items() if name.startswith(leaf.name) and entry.exists(index)]
    return longer[0] if len(longer) == 1 else None


def _spelled(leaf: Leaf, full: str) -> Change:
    message = f"--{leaf.name}: an abbreviation of --{full}; a later release may make it ambiguous"
    return Change(Part.CHANGED, "VM0003", Severity.WARNING, f"--{leaf.name}", message, f"write --{full}", leaf.site)


def _finding(leaf: Leaf, code: str, severity: Severity, message: str, way_out: str = "") -> Change:
    subject = str(Target(leaf.room, leaf.name, leaf.path))
    return Change(Part.DECISION, code, severity, subject, f"{subject}: {message}", way_out, leaf.site)


def _option(book: Catalogue, leaf: Leaf, index: int) -> Iterator[Change]:
    if leaf.name == OPTIMIZE or leaf.name.startswith(_WRAPPERS):
        return
    entry = book.options.get(leaf.name)
    if entry is None:
        near = get_close_matches(leaf.name, [n for n, e in book.options.items() if e.exists(index)], 1, 0.75)
        way_out = f"did you mean --{near[0]}?" if near else "remove it, or install the plugin that brings it"
        yield _finding(leaf, "VM0001", Severity.ERROR, "no release of the engine knows this option", way_out)
        return
    facts = entry.at(index)
    if facts is None:
        yield _elsewhere(book, leaf, entry, index)
        return
    if leaf.path:
        yield from _key(book, leaf, index)
    elif leaf.value is not UNKNOWN and not isinstance(leaf.value, Raw):
        yield from _value(leaf, facts)


def _elsewhere(book: Catalogue, leaf: Leaf, entry: Entry, index: int) -> Change:
    """The name belongs to other releases than the target."""
    first, last = entry.intervals[0][0], entry.intervals[-1][1]
    target = book.releases[index].short
    if first > index:
        fact = f"known in {book.releases[first].short}+, you target {target}"
        return _finding(leaf, "VM0002", Severity.ERROR, fact, "remove it or target a newer release")
    fact = f"last seen in {book.releases[last].short}, you target {target}"
    return _finding(leaf, "VM0004", Severity.ERROR, fact, "remove it")


def _key(book: Catalogue, leaf: Leaf, index: int) -> Iterator[Change]:
    if leaf.name == "limit-mm-per-prompt" and leaf.path[0] not in MODALITIES:
        near = get_close_matches(leaf.path[0], MODALITIES, 1, 0.6)
        fact = f'"{leaf.path[0]}" is no modality the engine has a limit for; it is accepted and does nothing'
        yield _finding(leaf, "VM0006", Severity.WARNING, fact, f"write {near[0]}" if near else f"use {MODALITIES}")
        return
    for depth in range(1, len(leaf.path) + 1):
        key = book.key(leaf.name, leaf.path[:depth], index)
        if isinstance(key, Free):
            return
        if key is None:
            yield _unknown_key(book, leaf, depth, index)
            return
        facts = key.at(index)
        if facts is None:
            yield _elsewhere(book, leaf, key, index)
            return
        if depth == len(leaf.path) and leaf.value is not UNKNOWN and not isinstance(leaf.value, Raw):
            yield from _nested_value(leaf, facts)


def _unknown_key(book: Catalogue, leaf: Leaf, depth: int, index: int) -> Change:
    parent = book.class_of(leaf.name, index)
    for step in leaf.path[: depth - 1]:
        parent = book.classes[parent or ""][step].nearest(index).of
    known = [name for name, entry in book.classes[parent or ""].items() if entry.exists(index)]
    near = get_close_matches(leaf.path[depth - 1], known, 1, 0.6)
    way_out = f"did you mean {near[0]}?" if near else _REMOVE
    return _finding(leaf, UNKNOWN_KEY, Severity.ERROR, f'"{leaf.path[depth - 1]}" is no key of {parent}', way_out)


def _nested_value(leaf: Leaf, facts: Facts) -> Iterator[Change]:
    if facts.type == "bool" and isinstance(leaf.value, str) and as_bool(leaf.value) is not None and not leaf.site.path:
        fact = f'"{leaf.value}" in quotes is a text, not a boolean'
        yield _finding(
            leaf, "VM0008", Severity.WARNING, fact, f"write {str(as_bool(leaf.value)).lower()} without quotes"
        )
        return
    yield from _value(leaf, facts)


def _value(leaf: Leaf, facts: Facts) -> Iterator[Change]:
    value: Any = leaf.value
    if facts.type == "choice" and not facts.open and facts.values and isinstance(value, str | int):
        numbers = [str(place) for place in range(len(facts.values))] if facts.numbered else []
        if not any(_folded(value) == _folded(known) for known in (*facts.values, *numbers)):
            yield _choice(leaf, value, facts)
    elif facts.open and isinstance(value, str) and value and not set(value) & set("./:"):
        if not any(_folded(value) == _folded(known) for known in facts.values):
            yield _unregistered(leaf, value, facts)
    elif facts.type in ("int", "float") and value is not None:
        found = parse_number(value) if isinstance(value, str) else value
        if isinstance(found, str) and found not in ("auto", "None") and leaf.name not in SECRETS:
            yield _finding(leaf, "VM0007", Severity.ERROR, f'"{found}" is no number')
        elif isinstance(found, int | float):
            yield from _bounds(leaf, float(found), facts)


# as many values as a person reads in one line
_LISTED = 12


def _choice(leaf: Leaf, value: Any, facts: Facts) -> Change:
    near = get_close_matches(str(value), [str(known) for known in facts.values], 1, 0.6)
    listed = ", ".join(str(known) for known in facts.values[:_LISTED])
    if len(facts.values) > _LISTED:
        listed += f" ... (`appliance explain {leaf.name}` names all {len(facts.values)})"
    way_out = f'did you mean "{near[0]}"?' if near else f"one of {listed}"
    return _finding(leaf, "VM0007", Severity.ERROR, f'"{to_text(value)}" is not a value it takes', way_out)


def _unregistered(leaf: Leaf, value: str, facts: Facts) -> Change:
    near = get_close_matches(value, [str(known) for known in facts.values], 1, 0.85)
    way_out = f'did you mean "{near[0]}"?' if near else "check that a plugin brings it"
    return _finding(leaf, "VM0010", Severity.WARNING, f'the engine itself has no "{value}"', way_out)


def _bounds(leaf: Leaf, value: float, facts: Facts) -> Iterator[Change]:
    for name, limit in (facts.bounds or {}).items():
        words, holds = _OPERATORS[name]
        if not holds(value, float(limit)):
            yield _finding(leaf, "VM0007", Severity.ERROR, f"{value:g} is out of range", f"{words} {limit:g}")


def _folded(value: Any) -> str:
    return str(value).lower().replace("-", "_")


def _variable(book: Catalogue, leaf: Leaf, index: int) -> Iterator[Change]:
    """Only the engine's own variables; one it does not know costs a warning in its log and does nothing."""
    if not leaf.name.startswith("VLLM_"):
        return
    entry = book.env.get(leaf.name)
    if entry is None and leaf.site.source:
        return  # often the name of options that a command puts in; the file itself is asked about it
    if entry is None:
        near = get_close_matches(leaf.name, [n for n, e in book.env.items() if e.exists(index)], 1, 0.85)
        way_out = f"did you mean {near[0]}?" if near else ""
        yield _finding(leaf, "VM0009", Severity.NOTE, "the engine does not read this variable", way_out)
    elif not entry.exists(index):
        change = _elsewhere(book, leaf, entry, index)
        yield replace(change, severity=Severity.WARNING)
    else:
        facts = entry.nearest(index)
        if facts.values and isinstance(leaf.value, str) and leaf.value:
            known = {_folded(value) for value in facts.values}
            if not all(_folded(part.strip()) in known for part in leaf.value.split(",")):
                yield _choice(leaf, leaf.value, facts)
