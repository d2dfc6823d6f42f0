"""What every renderer takes and gives."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn, Protocol

from appliance.diagnostics import ApplianceError, Diagnostic, Severity
from appliance.plan import Plan
from appliance.profile import Document, Profile
from appliance.profile.interpolate import interpolate
from appliance.profile.nodes import Scalar


@dataclass(frozen=True)
class Options:
    """What the command line adds to the profile; None = the renderer's own choice."""

    image: str | None = None
    namespace: str | None = None
    replicas: int = 1
    monitor: bool = False
    """Also what lets Prometheus find the metrics, where the target has such a thing."""
    output: Path | None = None
    """Where the text will lie; only for paths relative to it."""
    node_rank: int = 0
    """Which of several machines that run one engine."""


@dataclass(frozen=True)
class Subject:
    """A profile that validated, and what it becomes on the target's machine."""

    document: Document
    profile: Profile
    plan: Plan
    command: str
    """The command line that renders this again, for the header."""
    environ: Mapping[str, str]
    """What the profile's references were replaced from."""

    @property
    def text(self) -> str:
        return self.document.text

    @property
    def folder(self) -> Path:
        """Where relative paths of the profile start."""
        return Path(self.document.file).absolute().parent

    def written(self, path: str) -> str:
        """A string as the profile has it, references replaced: paths are not yet absolute. Empty where none stands.

        Those of keys are never replaced.
        """
        node = self.document.node(path)
        if not isinstance(node, Scalar):
            return ""
        return node.raw if path.startswith("security.api_keys") else interpolate(node.raw, self.environ)

    def remark(self, code: str, severity: Severity, path: str, fact: str, fix: str) -> Diagnostic:
        return Diagnostic(code, severity, self.document.position(path), path, fact, fix)

    def refuse(self, code: str, path: str, fact: str, fix: str) -> NoReturn:
        raise ApplianceError([self.remark(code, Severity.ERROR, path, fact, fix)])


@dataclass(frozen=True)
class Rendered:
    text: str
    remarks: tuple[Diagnostic, ...] = field(default=())
    """What the operator still has to provide, or should know."""


class Renderer(Protocol):
    def render(self, subject: Subject, options: Options) -> Rendered:
        """ApplianceError AP08xx for what the target cannot take."""
        ...
