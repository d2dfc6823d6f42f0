"""The catalogue as text: facts of many releases <-> one compact JSON document.

Every entry holds `in`, the closed intervals of release indexes in which it exists, and `at`, its attributes: the full
set at the first index, then only what changed (null: attribute gone; but `default` is always there, and may be null).
"""

import json
from collections.abc import Mapping
from typing import Any

from appliance.migrations.build.release_facts import Facts, ReleaseFacts
from appliance.migrations.release import release

Timeline = dict[int, dict[str, Any]]


def encode(facts: Mapping[str, ReleaseFacts]) -> str:
    """One entry a line, sorted, so that a new release makes a short diff."""
    releases = sorted(facts, key=release)
    lines = ["{", f'"releases": {_compact(releases)},']
    lines.append(f'"python": {_compact([facts[name].python for name in releases])},')
    lines += ['"options": {', *_entries([facts[name].options for name in releases]), "},"]
    lines += ['"env": {', *_entries([facts[name].env for name in releases]), "},", '"classes": {']
    classes = sorted({name for item in facts.values() for name in item.classes})
    for name in classes:
        lines += [f"{_compact(name)}: {{", *_entries([facts[each].classes.get(name, {}) for each in releases])]
        lines.append("}" if name == classes[-1] else "},")
    return "\n".join([*lines, "}", "}", ""])


def decode(text: str) -> dict[str, ReleaseFacts]:
    document = json.loads(text)
    return {
        name: ReleaseFacts(
            _at(document["options"], index),
            {cls: found for cls, entries in document["classes"].items() if (found := _at(entries, index))},
            _at(document["env"], index),
            document["python"][index],
        )
        for index, name in enumerate(document["releases"])
    }


def _entries(per_release: list[Facts]) -> list[str]:
    names = sorted({name for facts in per_release for name in facts})
    rows = []
    for name in names:
        timeline = {index: facts[name] for index, facts in enumerate(per_release) if name in facts}
        rows.append(f"{_compact(name)}: {_compact({'in': _intervals(timeline), 'at': _deltas(timeline)})}")
    return [f"{row}," for row in rows[:-1]] + rows[-1:]


def _intervals(timeline: Timeline) -> list[list[int]]:
    found: list[list[int]] = []
    for index in sorted(timeline):
        if found and found[-1][1] == index - 1:
            found[-1][1] = index
        else:
            found.append([index, index])
    return found


def _deltas(timeline: Timeline) -> list[list[Any]]:
    deltas: list[list[Any]] = []
    before: dict[str, Any] = {}
    for index in sorted(timeline):
        now = timeline[index]
        changed = {key: value for key, value in now.items() if key not in before or before[key] != value}
        changed |= {key: None for key in before if key not in now}
        if changed or not deltas:
            deltas.append([index, changed])
        before = now
    return deltas


def _at(entries: Mapping[str, Any], index: int) -> Facts:
    found: Facts = {}
    for name, entry in entries.items():
        if any(first <= index <= last for first, last in entry["in"]):
            found[name] = attributes(entry, index)
    return found


def attributes(entry: Mapping[str, Any], index: int) -> dict[str, Any]:
    """The attributes in force at a release index."""
    current: dict[str, Any] = {}
    for since, delta in entry["at"]:
        if since > index:
            break
        current |= delta
    return {key: value for key, value in current.items() if value is not None or key == "default"}


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
