"""What a systemd unit says around the engine: restarts without end."""

import re
from collections.abc import Iterator

from appliance.diagnostics import Severity

from ..finding import Finding
from .scene import Scene, remark

_RESTART = re.compile(r"^[ \t]*Restart[ \t]*=[ \t]*(always|on-failure)\b", re.MULTILINE)
_CHECKED = re.compile(r"^[ \t]*ExecStartPre[ \t]*=.*\bappliance\b", re.MULTILINE)


def unit_remarks(scene: Scene, index: int) -> Iterator[Finding]:
    restarts = _RESTART.search(scene.text) if scene.dialect == "systemd" and not index else None
    if restarts and not _CHECKED.search(scene.text):
        subject = f"Restart={restarts[1]}"
        fact = "an option that the engine refuses makes it start over and over"
        fix = "put ExecStartPre=appliance validate --offline PATH-OF-THIS-UNIT before it"
        yield remark("VM0113", Severity.NOTE, subject, fact, fix, scene.lines.at(restarts.start()))
