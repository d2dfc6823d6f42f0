"""What a systemd unit says around the engine: variables in other files, and restarts without end."""

import re
from collections.abc import Iterator

from appliance.diagnostics import Severity
from appliance.migrations.change import Change, Part

from .finding import Finding
from .source import Lines

_FILE = re.compile(r"^[ \t]*EnvironmentFile[ \t]*=[ \t]*-?(\S+)", re.MULTILINE)
_RESTART = re.compile(r"^[ \t]*Restart[ \t]*=[ \t]*(always|on-failure)\b", re.MULTILINE)
_CHECKED = re.compile(r"^[ \t]*ExecStartPre[ \t]*=.*\bappliance\b", re.MULTILINE)


def unit_remarks(dialect: str, text: str, lines: Lines) -> Iterator[Finding]:
    if dialect != "systemd":
        return
    for found in _FILE.finditer(text):
        fact = f"EnvironmentFile: the variables in {found[1]} are not looked at here"
        fix = f"run `appliance migrate {found[1]}` where it lies"
        yield _note("VM0110", "EnvironmentFile", fact, fix, lines, found)
    restarts = _RESTART.search(text)
    if restarts and not _CHECKED.search(text):
        fact = f"Restart={restarts[1]}: an option that the engine refuses makes it start over and over"
        fix = "put ExecStartPre=appliance validate --offline PATH-OF-THIS-UNIT before it"
        yield _note("VM0113", "Restart", fact, fix, lines, restarts)


def _note(code: str, subject: str, fact: str, fix: str, lines: Lines, at: re.Match[str]) -> Finding:
    return Finding(Change(Part.DECISION, code, Severity.NOTE, subject, fact, fix), *lines.at(at.start()))
