"""What every kind of model source offers, and what the rest of the house gets from it."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, Protocol, Self

from appliance.diagnostics import ApplianceError, Diagnostic, Position, Severity
from appliance.profile.source import Source


@dataclass(frozen=True)
class ResolvedSource:
    """A model that lies on this machine."""

    path: Path
    """Folder with config.json, or one .gguf file."""
    origin: str
    """The source as the profile names it."""
    sha256: str | None = None
    """Of the single file, when it was compared with the profile."""


class Meter(Protocol):
    """One running piece of work, counted in bytes."""

    def update(self, done: int, total: int | None) -> None: ...


class Progress(Protocol):
    """Where a pull tells a person what it does; implementations decide on bars, lines or silence."""

    def note(self, text: str) -> None: ...

    def meter(self, label: str) -> AbstractContextManager[Meter]: ...


@dataclass(frozen=True)
class Want:
    """One wish to have the model here."""

    sha256: str | None
    download: bool
    """False = only look; a model that is not here is an error."""
    progress: Progress
    base: Path
    """Relative paths start here."""
    position: Position
    holds: str = "config.json"
    """The file that tells a folder of the wanted kind."""
    digest: Position | None = None
    """Where `model.sha256` stands; None = at `position`."""


def refuse_digest(want: Want, fact: str, fix: str) -> NoReturn:
    """AP0503 at model.sha256."""
    refuse(want.digest or want.position, "AP0503", fact, fix, "model.sha256")


class ModelSource(Protocol):
    @classmethod
    def of(cls, source: Source) -> Self: ...

    def resolve(self, want: Want) -> ResolvedSource:
        """ApplianceError (AP05xx) when the model cannot be had."""
        ...


def refuse(position: Position, code: str, message: str, fix: str, path: str = "model.source") -> NoReturn:
    raise ApplianceError([Diagnostic(code, Severity.ERROR, position, path, message, fix)], exit_code=2)
