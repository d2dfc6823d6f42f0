"""What the rules look at: the profile, where its lines are, and the checkpoint once somebody asks for it."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from appliance.engine.checkpoint import Architecture, Checkpoint, CheckpointError, architecture, read

from ..diagnostics import Diagnostic, Severity
from ..profile import Document, Profile
from ..profile.source import parse_source


@dataclass
class Facts:
    document: Document
    profile: Profile
    locate: Callable[[Profile], str | None] | None = None
    """Where a hub's or a wheel's model lies on this machine; None = not here."""
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)

    def error(self, code: str, path: str, fact: str, fix: str = "") -> Diagnostic:
        return Diagnostic(code, Severity.ERROR, self.document.position(path), path, fact, fix)

    def warning(self, code: str, path: str, fact: str, fix: str = "") -> Diagnostic:
        return Diagnostic(code, Severity.WARNING, self.document.position(path), path, fact, fix)

    def note(self, code: str, path: str, fact: str, fix: str = "") -> Diagnostic:
        return Diagnostic(code, Severity.NOTE, self.document.position(path), path, fact, fix)

    def written(self, path: str) -> bool:
        """Does the operator's text hold this field?"""
        return self.document.node(path) is not None

    def value(self, path: str) -> Any:
        """Of a dotted path without list indices; None below a section that is null."""
        found: Any = self.profile
        for name in path.split("."):
            found = None if found is None else getattr(found, "schema_" if name == "schema" else name)
        return found

    @cached_property
    def model_path(self) -> str | None:
        """Folder or .gguf of the model, where it is on this machine already."""
        source = parse_source(self.profile.model.source)
        if source.kind in ("folder", "gguf"):
            return source.path if os.path.exists(source.path) else None  # noqa: PTH110
        return self.locate(self.profile) if self.locate else None

    @cached_property
    def kind(self) -> Architecture | None:
        """What the model is for; None where it is not here or cannot be read."""
        try:
            return architecture(self.model_path) if self.model_path else None
        except (CheckpointError, OSError):
            return None

    @cached_property
    def checkpoint(self) -> Checkpoint | CheckpointError | None:
        """Headers of the model, or what is wrong with them; None where it is not here."""
        try:
            return read(self.model_path) if self.model_path else None
        except CheckpointError as error:
            return error
        except OSError as error:
            return CheckpointError(str(error.filename or self.model_path), f"cannot be read: {error.strerror}")

    @property
    def readable(self) -> Checkpoint | None:
        return self.checkpoint if isinstance(self.checkpoint, Checkpoint) else None


Rule = Callable[[Facts], Iterator[Diagnostic]]
