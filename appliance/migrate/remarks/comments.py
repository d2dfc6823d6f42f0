"""Old options in comments: left alone, since nothing runs them, but somebody will copy them one day."""

import re
import shlex
from collections.abc import Iterator
from functools import lru_cache

from appliance.diagnostics import Severity
from appliance.migrations.catalogue import catalogue
from appliance.migrations.change import Change, Part
from appliance.migrations.example import read_example
from appliance.migrations.plan import plan_changes
from appliance.migrations.release import Release

from ..finding import Finding
from .scene import Scene, remark

_COMMENT = re.compile(r"^[ \t]*#+[ \t]*(?!VM\d{4}:)([^\n]*?--[A-Za-z][^\n]*?)[\s\\]*$", re.MULTILINE)
_KEY = re.compile(r"^[ \t]*#+[ \t]*([A-Za-z][\w-]*)[ \t]*:[ \t]*([^\s#][^\n]*?)?\s*$", re.MULTILINE)
_SETTING = re.compile(r"VLLM_\w+=")
_LONG = 120


def comment_remarks(scene: Scene, index: int) -> Iterator[Finding]:
    """With the first deployment, about the comments of the whole file; each text once."""
    if index:
        return
    seen = set()
    for at, text in _options(scene):
        if text in seen:
            continue
        seen.add(text)
        stale = _stale(text, scene.starts[0], scene.target)
        if stale:
            codes = ", ".join(dict.fromkeys(change.code for change in stale))
            names = ", ".join(dict.fromkeys(change.subject for change in stale))
            fact = f"still says {names}, which {scene.target.short} does not take ({codes}); comments are left alone"
            place = scene.lines.at(at)
            yield remark("VM0115", Severity.NOTE, "comment", fact, "correct or delete it", place)


def _options(scene: Scene) -> Iterator[tuple[int, str]]:
    """Offsets and texts of comments with options; the engine's own YAML has them as keys."""
    for found in _COMMENT.finditer(scene.text):
        yield found.start(1), found[1]
    if scene.dialect == "vllm-config":
        for found in _KEY.finditer(scene.text):
            name = found[1].replace("_", "-")
            if name in catalogue().options:
                yield found.start(1), f"--{name}={found[2] or ''}" if found[2] not in ("true", None) else f"--{name}"


@lru_cache(maxsize=1024)
def _stale(text: str, start: Release | None, target: Release) -> tuple[Change, ...]:
    """What the target would refuse of the options in a comment."""
    try:
        words = shlex.split(text)
    except ValueError:
        words = text.split()
    words = [word.strip("\"'`,[]()") for word in words if len(word) < _LONG * 10]
    first = next((place for place, word in enumerate(words) if word.startswith("--") and word != "--"), len(words))
    settings = [word for word in words[:first] if _SETTING.match(word)]
    example = read_example(shlex.join([*settings, *words[first:]]))
    changes = plan_changes(example.sites, start, target, comments=False)
    refused = (change for change in changes if change.part in (Part.CHANGED, Part.DECISION) and change.site)
    return tuple(change for change in refused if change.severity is not Severity.NOTE and change.rule is not None)
