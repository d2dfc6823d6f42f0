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
    if _rule.match is not None:
        _BY_NAME.setdefault((_rule.target.room, _rule.target.name), []).append(_rule)
# variables that hold options rather than a value
_MORE = re.compile(r"\$[({]?(\w*(?:ARGS|OPTS|OPTIONS|FLAGS|PARAMS)\w*)(?:\[[@*]\])?[)}]?", re.IGNORECASE)
_REACH = 200


def later_remarks(scene: Scene, index: int) -> Iterator[Finding]:
    deployment, start = scene.deployments[index], scene.starts[index]
    for site in deployment.sites:
        if site.known:
            continue
        target = Target(Room.ENV if site.kind is Kind.ENV else Room.OPTION, site.name, site.path)
        codes = [
            rule.code
            for rule in _BY_NAME.get((target.room, target.name), ())
            if rule.target == target and (start is None or start < rule.since) and rule.since <= scene.target
        ]
        if codes:
            fact = "is filled in later, and some of its values changed"
            way_out = f"compare it with {', '.join(codes)}"
            subject = f"{target} {site.raw_value or ''}".rstrip()
            yield remark("VM0110", Severity.NOTE, subject, fact, way_out, scene.lines.at(site.name_span.start))
    yield from _more(scene, deployment)


def _more(scene: Scene, deployment: Deployment) -> Iterator[Finding]:
    """Variables among the options whose own options stand nowhere in this file."""
    spans = [site.element for site in deployment.sites if site.kind is Kind.OPTION and not site.source]
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
        if inside or name in seen or re.search(rf"(?<![\w$]){re.escape(name)}\"?\s*(?:\+?=|:(?!-))", scene.text):
            continue
        seen.add(name)
        fact = "holds more options, which are not in this file"
        way_out = "look through them where they are set"
        yield remark("VM0110", Severity.NOTE, found.group(), fact, way_out, scene.lines.at(at))
