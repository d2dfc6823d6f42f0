"""Options that the target does not take, in places from which nothing is read: no edit there, but no silence either."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import lru_cache

from appliance.diagnostics import Severity
from appliance.migrations.canonical import Deployment, merged
from appliance.migrations.release import Release
from appliance.migrations.releases import RULES
from appliance.migrations.rule import Room

from ..finding import Finding
from .scene import Scene, remark

_FLAG = re.compile(r"(?<![\w-])--([a-z][a-z0-9_-]+)")
_REMARK = re.compile(r"[ \t]*(?:#|//|(?i:rem )|::)")
# an option of container tools, too
_SHARED = frozenset({"device"})
# what a program says about options of its own looks the same there
_PROGRAMS = ("python",)


def unread_remarks(scene: Scene, index: int) -> Iterator[Finding]:
    """With the first deployment, about the whole file; each option once."""
    if index or scene.dialect in _PROGRAMS:
        return
    for at, name in unread(scene.text, scene.target, scene.deployments):
        fact = f"stands where nothing is read, and {scene.target.short} does not take it ({_gone(scene.target)[name]})"
        place = scene.lines.at(at)
        yield remark("VM0119", Severity.WARNING, f"--{name}", fact, "look at it yourself", place)


def unread(text: str, target: Release, deployments: Iterable[Deployment] = ()) -> Iterator[tuple[int, str]]:
    """Offset and name of each such option, where the text speaks of the engine."""
    if "vllm" not in text.lower():
        return
    elements = (site.element for one in deployments for site in one.sites if not site.source)
    taken = merged((element.start, element.end) for element in elements)
    seen = set()
    for found in _FLAG.finditer(text):
        name, at = found[1].replace("_", "-"), found.start()
        if name in seen or name not in _gone(target) or _REMARK.match(text, text.rfind("\n", 0, at) + 1):
            continue
        place = bisect_right(taken, (at, len(text)))
        if not place or taken[place - 1][1] <= at:
            seen.add(name)
            yield at, name


@lru_cache(maxsize=8)
def _gone(target: Release) -> dict[str, str]:
    """Names of options that no value saves, with the codes of the rules."""
    return {
        rule.target.name: rule.code
        for rule in reversed(RULES)
        if rule.target.room is Room.OPTION
        and not rule.target.path
        and not rule.touches
        and rule.match is None
        and rule.puts is not None
        and rule.since <= target
        and rule.target.name not in _SHARED
    }
