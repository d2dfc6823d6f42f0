"""The one road from a text to something that can boot: validate, source, plan. First boot and every reload take it."""

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from appliance.diagnostics import ApplianceError, Diagnostic, Position, Severity
from appliance.engine.lora.stored import mark
from appliance.plan import HardwareSnapshot, Plan
from appliance.profile import Document, Profile
from appliance.source import Progress, ResolvedSource
from appliance.supervise.history_records import text_hash

ADDRESS = {"AP0308", "AP0309"}
"""What validation says about the address: here it is bound, which says it better."""


@dataclass(frozen=True)
class Checked:
    """A profile without errors; warnings may remain in `findings`."""

    document: Document
    profile: Profile
    base: Path
    findings: tuple[Diagnostic, ...]

    def position(self, path: str) -> Position:
        return self.document.position(path)


@dataclass(frozen=True)
class Candidate:
    """A state that could run on this machine."""

    checked: Checked
    source: ResolvedSource
    plan: Plan
    contents: dict[str, str] = field(default_factory=dict)
    """Digest of what servers read besides the profile (keys, chat template, adapters), by what names it."""
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return self.checked.document.text

    @property
    def hash(self) -> str:
        return text_hash(self.text)


@dataclass(frozen=True)
class Road:
    """`hardware` is probed once, before anything of ours runs: our own memory never counts as that of others."""

    file: Path
    hardware: HardwareSnapshot
    progress: Progress

    def check(self, text: str | None = None, name: str | None = None, base: Path | None = None) -> Checked:
        """All tiers of validation, with the model where it is here already. ApplianceError with everything found."""
        return check(self.file, text, name, base)

    def plan(self, checked: Checked, revision: int = 1, download: bool = True) -> Candidate:
        """Fetches model and adapters when they are not here and plans for this machine. ApplianceError when either
        fails, or when something is not here and `download` is off."""
        from appliance.plan import make_plan, read_checkpoint
        from appliance.source import resolve, resolve_adapters

        begun = time.monotonic()
        profile, position = checked.profile, checked.position
        places = position("model.source"), position("model.sha256")
        source = resolve(profile.model, download, self.progress, checked.base, *places)
        adapters = resolve_adapters(profile.model, download, checked.base, position, self.progress)
        fetched = time.monotonic()
        checkpoint = read_checkpoint(source.path, position)
        plan = make_plan(profile, self.hardware, checkpoint, position=position, revision=revision, adapters=adapters)
        folders = {name: str(folder) for name, folder in adapters.items()}
        plan = replace(plan, server=replace(plan.server, adapters=folders))
        seconds = {"model": fetched - begun, "plan": time.monotonic() - fetched}
        return Candidate(checked, source, plan, contents(profile, folders), seconds)


def check(file: Path, text: str | None = None, name: str | None = None, base: Path | None = None) -> Checked:
    """The file, or a text in its stead."""
    from appliance.source import here
    from appliance.validate import validate

    folder = base or file.absolute().parent
    called = file if name is None else name
    result = validate(called, locate=lambda profile: here(profile.model, folder), text=text, base=folder)
    findings = tuple(found for found in result.diagnostics if not _overtaken(found))
    if result.profile is None or any(found.severity is Severity.ERROR for found in findings):
        raise InvalidText(list(findings), exit_code=1 if result.readable else 2, text=result.document.text)
    return Checked(result.document, result.profile, folder, findings)


@dataclass
class InvalidText(ApplianceError):  # noqa: N818 - what it is, like every ApplianceError
    """`text` is what was judged."""

    text: str = ""


def contents(profile: Profile, adapters: Mapping[str, str]) -> dict[str, str]:
    """Digest by field, of what keeps its name when its content changes. It was readable a moment ago."""
    files = {f"security.api_keys[{i}].file": key.file for i, key in enumerate(profile.security.api_keys)}
    files["model.chat_template"] = profile.model.chat_template
    found = {path: _digest(Path(name)) for path, name in files.items() if name is not None}
    return found | {f"model.adapters.{name}": mark(folder) for name, folder in adapters.items()}


def _digest(file: Path) -> str:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return ""


def _overtaken(found: Diagnostic) -> bool:
    """Said again, and better, by what comes next: the address is bound, a model that is not here yet is fetched."""
    return found.code in ADDRESS or (found.code == "AP0301" and found.severity is Severity.NOTE)
