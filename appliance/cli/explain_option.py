"""What became of an engine option, nested key or environment variable, release by release."""

import textwrap
from collections.abc import Iterator

import typer

from appliance.migrations.catalogue import Catalogue, Entry, Facts, Free, catalogue
from appliance.migrations.releases import RULES
from appliance.migrations.rule import Room, Rule, Target
from appliance.migrations.values import to_text

WIDTH = 80


def print_history(topic: str, below: bool) -> bool:
    """False where no release knows it. below: a page about a field stands above."""
    book = catalogue()
    found = _find(book, topic)
    if found is None:
        return _print_rules(topic, below)
    target, entry = found
    typer.echo("\n" * below + typer.style(str(target), bold=True) + "\n")
    facts = {"known": _known(book, entry)}
    newest = entry.nearest(len(book.releases) - 1)
    switch = "0 or 1" if target.room is Room.ENV else "nothing, it is a switch"
    facts |= {"takes": switch if newest.type == "bool" else _takes(newest), "default": _defaults(book, entry)}
    spelled = [flag for flag in (*newest.flags, *newest.negations) if flag != str(target)]
    facts["also"] = ", ".join(spelled)
    for name, said in facts.items():
        if said:
            typer.echo(textwrap.fill(f"{name:8} {said}", WIDTH, initial_indent="    ", subsequent_indent=" " * 13))
    for rule in _rules(target):
        _print_rule(rule)
    return True


def _print_rules(topic: str, below: bool) -> bool:
    """Options of releases older than the catalogue, and keys named without the option that they stand in."""
    spelled = topic.lstrip("-").replace("_", "-")
    found = [
        rule for rule in RULES if spelled in {rule.target.name, *(step.replace("_", "-") for step in rule.target.path)}
    ]
    found += [rule for rule in RULES if topic == rule.target.name and rule not in found]
    if not found:
        return False
    names = list(dict.fromkeys(str(rule.target) for rule in found))
    typer.echo("\n" * below + typer.style(", ".join(names), bold=True))
    for rule in found:
        _print_rule(rule)
    return True


def _print_rule(rule: Rule) -> None:
    said = f"{rule.code} since {rule.since.short}, {rule.nature}: {rule.target}: {rule.reason}"
    said += f"; {rule.way_out}" if rule.way_out else ""
    typer.echo("\n" + textwrap.fill(said, WIDTH, break_on_hyphens=False))
    if rule.before and rule.before != rule.after:
        typer.echo(textwrap.indent(f"{rule.before}\n-> {rule.after or '(nothing)'}", "    "))


def _find(book: Catalogue, topic: str) -> tuple[Target, Entry] | None:
    if topic in book.env:
        return Target(Room.ENV, topic), book.env[topic]
    head, *path = topic.lstrip("-").split(".")
    spelled = head.replace("_", "-")
    name = spelled if spelled in book.options else book.spellings.get(f"--{spelled}", ("", False))[0]
    name = name or book.spellings.get(topic, ("", False))[0]
    if name not in book.options:
        return None
    if not path:
        return Target(Room.OPTION, name), book.options[name]
    key = book.key(name, tuple(path), len(book.releases) - 1)
    return None if key is None or isinstance(key, Free) else (Target(Room.OPTION, name, tuple(path)), key)


def _known(book: Catalogue, entry: Entry) -> str:
    return ", ".join(_span(book, first, last) for first, last in entry.intervals)


def _span(book: Catalogue, first: int, last: int) -> str:
    begins = f"from {book.releases[first].short}" if first else f"in {book.releases[0].short} and before"
    if last == len(book.releases) - 1:
        return f"{begins}, still in {book.newest.short}"
    return f"{begins}, last in {book.releases[last].short}" if first != last else f"{begins} only"


def _takes(facts: Facts) -> str:
    if facts.values:
        return ", ".join(to_text(value) for value in facts.values) + (", or another name" if facts.open else "")
    kinds = {"int": "a whole number", "float": "a number", "json": "a JSON mapping"}
    return kinds.get(facts.type, facts.type.replace("-or-", " or "))


def _defaults(book: Catalogue, entry: Entry) -> str:
    """The defaults over time; only where they are known and tell something."""
    seen: list[tuple[int, str]] = []
    for first, last in entry.intervals:
        for index in range(first, last + 1):
            value = entry.nearest(index).default
            said = "none" if value is None else to_text(value) or '""'
            if not seen or seen[-1][1] != said:
                seen.append((index, said))
    return seen[0][1] + "".join(f", {said} since {book.releases[index].short}" for index, said in seen[1:])


def _rules(target: Target) -> Iterator[Rule]:
    for rule in RULES:
        places = [rule.target, *(put.target for put in rule.puts or ())]
        if any((place.room, place.name) == (target.room, target.name) and _one_path(place, target) for place in places):
            yield rule


def _one_path(place: Target, target: Target) -> bool:
    depth = min(len(place.path), len(target.path))
    return place.path[:depth] == target.path[:depth]
