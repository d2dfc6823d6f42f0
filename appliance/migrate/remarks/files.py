"""Files that options name: the engine does not start without them, and not all of them lie where this program looks."""

import re
from collections.abc import Iterator
from pathlib import Path

from appliance.diagnostics import Severity
from appliance.migrations.canonical import Kind

from ..finding import Finding
from .scene import Scene, remark

_NAMES = frozenset(
    {"chat-template", "tool-parser-plugin", "reasoning-parser-plugin", "ssl-keyfile", "ssl-certfile", "ssl-ca-certs"}
)
_PATH = re.compile(r"[^\s{}$]*(?:/[^\s{}$]*|\.(?:jinja2?|j2|py|pem|crt|key))")


def file_remarks(scene: Scene, index: int) -> Iterator[Finding]:
    folder = Path(scene.path).parent
    for site in scene.deployments[index].sites:
        named = site.value if site.kind is Kind.OPTION and site.name in _NAMES else None
        if not isinstance(named, str) or not _PATH.fullmatch(named) or _is_file(folder / named):
            continue
        subject = f"--{site.name} {named}"
        fact = "no such file is seen from here"
        way_out = "check that it is there where the engine runs, from the image or a volume"
        yield remark("VM0114", Severity.NOTE, subject, fact, way_out, scene.lines.at(site.name_span.start))


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False
