"""Values and whole options that something fills in later, so that nobody here can know them."""

import re
from collections.abc import Iterator

from appliance.diagnostics import Severity
from appliance.migrations.canonical import Deployment, Kind
from appliance.migrations.releases import RULES
from appliance.migrations.rule import Room, Rule, Target

from ..finding import Finding
from .scene import Scene, remark

_BY_NAME: dict[tuple[Room, str], list[Rule]] = {}
for _rule in RULES:
    if _rule.match is not None or (_rule.target.path and not _rule.behaviour):
        _BY_NAME.setdefault((_rule.target.room, _rule.target.name), []).append(_rule)
# variables that hold options rather than a value
_MORE = re.compile(
    r"\$[({]?([@*]|\w*(?:ARGS|OPTS|OPTIONS|FLAGS|PARAMS|EXTRA|MORE)\w*)(?:\[[@*]\])?[)}]?", re.IGNORECASE
)
# a variable that is set, and what to; an argument of the script or of the function around it
_SET = r"(?<![\w$]){}\"?\s*(?:\+?=|:(?!-))([^\n]*)"
_ARGUMENT = re.compile(r"[\"'(]*\$(?:[\d@*]|\{[\d@*])")
_REACH = 200


def later_remarks(scene: Scene, index: int) -> Iterator[Finding]:
    deployment, start = scene.deployments[index], scene.starts[index]
    for site in deployment.sites:
        if site.known:
            continue
        target = Target(Room.ENV if site.kind is Kind.ENV else Room.OPTION, site.name, site.path)
        passed = [
            rule
            for rule in _BY_NAME.get((target.room, target.name), ())
            if (start is None or start < rule.since) and rule.since <= scene.target
        ]
        codes = [rule.code for rule in passed if rule.target == target]
        inner = sum(_below(rule.target, target) for rule in passed)
        what = ["values"] * bool(codes) + [f"keys ({inner})"] * bool(inner)
        if what:
            fact = f"is filled in later, and some of its {' and '.join(what)} changed"
            ways = [f"compare it with {', '.join(codes)}"] * bool(codes)
            ways += [f"`appliance explain {Target(target.room, target.name)}` lists the keys"] * bool(inner)
            subject = f"{target} {site.raw_value or ''}".rstrip()
            place = scene.lines.at(site.name_span.start)
            yield remark("VM0110", Severity.NOTE, subject, fact, "; ".join(ways), place)
    yield from _more(scene, deployment)


def _below(inner: Target, outer: Target) -> bool:
    """A key inside the value of `outer`."""
    return len(inner.path) > len(outer.path) and inner.path[: len(outer.path)] == outer.path


def _more(scene: Scene, deployment: Deployment) -> Iterator[Finding]:
    """Variables among the options whose own options stand nowhere in this file."""
    own = [site for site in deployment.sites if not site.source]
    spans = [site.element for site in own if site.kind is Kind.OPTION] or [site.element for site in own]
    if not spans:
        return
    first, last = min(span.start for span in spans), max(span.end for span in spans)
    taken = [(site.value_span.start, site.value_span.end) for site in deployment.sites if site.value_span]
    seen = set()
    for found in _MORE.finditer(scene.text, first, min(last + _REACH, len(scene.text))):
        name, at = found[1], found.start()
        if found.end() > last and "\n\n" in scene.text[last:at]:
            return
        inside = any(start <= at < end for start, end in taken)
        set_here = [one[1] for one in re.finditer(_SET.format(re.escape(name)), scene.text)]
        handed = name in ("@", "*") or (bool(set_here) and all(_ARGUMENT.match(value) for value in set_here))
        looped = re.search(rf"\b(?:for|read)\s+(?:-\w+\s+)*{re.escape(name)}\b", scene.text)
        if inside or name in seen or looped or (set_here and not handed):
            continue
        seen.add(name)
        fact = "holds more options, which are " + ("arguments of a call" if handed else "not in this file")
        way_out = f"look through them where {'it is called' if handed else 'they are set'}"
        yield remark("VM0110", Severity.NOTE, found.group(), fact, way_out, scene.lines.at(at))
