"""One finding about one place in one file, the codes that name findings, and the errors that carry them.

Knows nothing of profiles or formats. A diagnostic says position, fact, seen value and way out:
`profiles/a.yaml:14:10 AP0104 error kv_cache.dtype: "fp9" is not a KV format; did you mean "fp8"?`
"""

from dataclasses import dataclass, field
from enum import StrEnum


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, order=True)
class Position:
    """Where in a file: 1-based line and column; 0 = the file as a whole."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


@dataclass(frozen=True)
class Diagnostic:
    """`message` holds fact and seen value, `fix` the way out (one clause, no full stop); neither ever holds secrets."""

    code: str
    severity: Severity
    position: Position
    path: str
    """Dotted path of the field (`kv_cache.dtype`), empty where there is none."""
    message: str
    fix: str = ""

    def __str__(self) -> str:
        where = f" {self.path}:" if self.path else ""
        way_out = f"; {self.fix}" if self.fix else ""
        return f"{self.position} {self.code} {self.severity}{where} {self.message}{way_out}"


@dataclass(frozen=True)
class Code:
    """What `appliance explain CODE` and the docs print. Codes are stable: never reused, never renumbered."""

    code: str
    title: str
    meaning: str
    """Why this is refused or remarked, for an operator; Markdown."""
    way_out: str
    example: str = ""
    """A fragment that triggers the code, and the right form beside it."""


@dataclass
class ApplianceError(Exception):
    """A known failure: shown as its diagnostics, never as a traceback. `exit_code` 1 = findings, 2 = cannot run."""

    diagnostics: list[Diagnostic]
    exit_code: int = 1
    notes: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return "\n".join([*map(str, self.diagnostics), *self.notes])
