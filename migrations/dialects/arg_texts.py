"""The engines that a shell text inside a YAML scalar starts, with the options that its variables and arrays hold."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from appliance.migrations.canonical import Entrypoint, Form, OptionSite
from appliance.migrations.dialects.arg_string import ArgString, SplitString
from appliance.migrations.dialects.layers import Layer, part
from appliance.migrations.dialects.serving import script, serves
from appliance.migrations.dialects.shell_words import ShellWord, assignment, commands, texts

_ASSIGNED = re.compile(r"([A-Za-z_]\w*)\+?=")
_USED = re.compile(r"\$\$?\{?(\w+)(?:\[[@*]\])?\}?\Z")
# the bracket of an array that holds something
_OPENS = re.compile(r"\((?!\s*\))")
_DEPTH = 3

Held = dict[str, list[ArgString]]


@dataclass(frozen=True, slots=True)
class Started:
    """One engine that a shell text starts."""

    sink: ArgString
    entrypoint: Entrypoint
    before: tuple[ArgString, ...] = ()
    """Commands that export variables."""
    more: tuple[ArgString, ...] = ()
    """What variables among its words hold."""
    held: frozenset[str] = frozenset()
    """Their names."""

    def sites(self, borrowed: bool) -> list[OptionSite]:
        """Of its own words; a variable that holds options is no model."""
        found = self.sink.sites(borrowed)
        return [
            site for site in found if site.form is not Form.POSITIONAL or used(site.raw_value or "") not in self.held
        ]


def started(layer: Layer, outer: Layer, anchor: int, depth: int = 0) -> list[Started]:
    """The engines that the text starts, those inside `sh -c` and in variables too."""
    found: list[Started] = []
    exports: list[ArgString] = []
    listed = commands(layer.text)
    held = _held(layer, listed, outer, anchor)
    for command in listed:
        words = texts(command)
        inside = script(words)
        if inside is not None and depth < _DEPTH and not used(words[inside]):
            shell = ArgString(layer, command, inside, outer, anchor)
            for engine in started(command[inside].layer(layer), outer, anchor, depth + 1):
                found.append(replace(engine, before=(*exports, shell, *engine.before)))
            continue
        begins = serves(words)
        if begins:
            names = [name for word in words[begins[0] :] if (name := used(word)) in held]
            more = tuple(one for name in dict.fromkeys(names) for one in held[name])
            sink = ArgString(layer, command, begins[0], outer, anchor)
            found.append(Started(sink, begins[1], tuple(exports), more, frozenset(names)))
            continue
        for name, value in _values(layer, command) if depth < _DEPTH else ():
            inner = started(value, outer, anchor, depth + 1) if "vllm" in value.text else []
            more = tuple(held.get(name, ()))
            found += [replace(one, before=tuple(exports), more=more, held=frozenset([name])) for one in inner]
        if words[0] == "export" or all(assignment(word) for word in command):
            exports.append(ArgString(layer, command, len(command), outer, anchor))
    return found


def used(word: str) -> str:
    """The variable that a word is made of; empty for any other word."""
    name = _USED.match(word)
    return name[1] if name else ""


def options_text(layer: Layer, outer: Layer, anchor: int) -> ArgString:
    """A text that is nothing but options."""
    return ArgString(layer, [word for command in commands(layer.text) for word in command], 0, outer, anchor)


def _values(layer: Layer, command: Sequence[ShellWord]) -> Iterator[tuple[str, Layer]]:
    """Names and values of what is set: `A="..."`, `export A=...`, `A+="..."`."""
    for word in command:
        name = _ASSIGNED.match(word.text)
        if name is None and word is not command[0]:
            return
        if name is not None and word.text[name.end() :]:
            yield name[1], part(word.layer(layer), name.end(), len(word.text))


def _held(layer: Layer, listed: Sequence[list[ShellWord]], outer: Layer, anchor: int) -> Held:
    """The options in variables and arrays, by name."""
    found: Held = {}
    for index, command in enumerate(listed):
        for name, value in _values(layer, command):
            words = [word for line in commands(value.text) for word in line]
            if any(word.text[:1] == "-" for word in words) and serves(texts(words)) is None:
                found.setdefault(name, []).append(SplitString(value, words, 0, outer, anchor))
        opened = _ASSIGNED.fullmatch(command[-1].text)
        if opened and _OPENS.match(layer.text, command[-1].end):
            items = list(_items(layer.text, listed[index + 1 :]))
            if any(word.text[:1] == "-" for word in items):
                found.setdefault(opened[1], []).append(ArgString(layer, items, 0, outer, anchor))
    return found


def _items(text: str, listed: Sequence[list[ShellWord]]) -> Iterator[ShellWord]:
    """The words up to the bracket that closes."""
    for line in listed:
        yield from line
        if text[line[-1].end :].lstrip()[:1] == ")":
            return
