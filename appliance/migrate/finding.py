"""What was found in one file: the parts that the report, the validator and programs show."""

from dataclasses import dataclass, field

from appliance.diagnostics import Diagnostic, Position, Severity
from appliance.migrations.canonical import Deployment
from appliance.migrations.change import Change, Part
from appliance.migrations.release import Release

from .source import Lines, Source

# The names of the parts in reports for programs.
PARTS = {
    Part.CHANGED: "changed",
    Part.DECISION: "decision",
    Part.BEHAVIOUR: "behaviour",
    Part.SECURITY: "security",
}


@dataclass(frozen=True)
class Origin:
    """The release a deployment was written for, None where nothing tells; said: how that is known."""

    release: Release | None
    said: str


@dataclass(frozen=True)
class Finding:
    """A change and where it stands: 1-based line and column, 0 for the deployment as a whole."""

    change: Change
    line: int = 0
    column: int = 0

    @property
    def edited(self) -> bool:
        return bool(self.change.operations)


@dataclass(frozen=True)
class Outcome:
    """One deployment of the file."""

    deployment: Deployment
    origin: Origin
    findings: tuple[Finding, ...]

    def of(self, part: Part) -> list[Finding]:
        return [finding for finding in self.findings if finding.change.part is part]


@dataclass(frozen=True)
class Result:
    """dialect: None where none knows the text. problem: why there is nothing else. note: what has to be said beside."""

    path: str
    source: Source | None = None
    dialect: str | None = None
    new_text: str = ""
    outcomes: tuple[Outcome, ...] = ()
    problem: Diagnostic | None = None
    note: str = ""
    named: bool = True
    lines: Lines | None = field(default=None, compare=False, repr=False)

    @property
    def text(self) -> str:
        return self.source.text if self.source else ""

    @property
    def changes(self) -> bool:
        """Whether the text would be another one."""
        return self.problem is None and self.source is not None and self.new_text != self.source.text

    @property
    def silent(self) -> bool:
        """Nothing to say about a file that nobody named."""
        harmless = self.problem is None or self.problem.code == "VM0101"
        return not self.named and not self.outcomes and harmless


def refused(path: str, code: str, fact: str, fix: str = "", line: int = 0, column: int = 0) -> Diagnostic:
    return Diagnostic(code, Severity.ERROR, Position(path, line, column), "", fact, fix)
