"""What validation found out about one file."""

from dataclasses import dataclass, field

from ..diagnostics import Diagnostic, Position, Severity
from ..profile import Document, Profile
from .facts import Facts


@dataclass(frozen=True)
class ValidationResult:
    """`profile` is there when text and schema are right, also where a later tier found errors."""

    document: Document
    profile: Profile | None
    diagnostics: tuple[Diagnostic, ...]
    facts: Facts | None = field(default=None, compare=False)
    """What the rules looked at, the checkpoint among it."""

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        return tuple(found for found in self.diagnostics if found.severity is Severity.ERROR)

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        return tuple(found for found in self.diagnostics if found.severity is Severity.WARNING)

    @property
    def readable(self) -> bool:
        """False where the file itself could not be read."""
        return not any(found.code == "AP0001" for found in self.diagnostics)

    def position(self, path: str) -> Position:
        return self.document.position(path)
