"""The one road from a text to something that can boot: validate, source, plan. First boot and every reload take it."""

import hashlib
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from appliance.diagnostics import ApplianceError, Diagnostic, Position, Severity
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
    """Digest of each file that servers read besides the profile (keys, chat template), by what names it."""
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

    def plan(self, checked: Checked, revision: int = 1) -> Candidate:
        """Fetches the model when it is not here and plans for this machine. ApplianceError when either fails."""
        from appliance.plan import make_plan, read_checkpoint
        from appliance.source import resolve

        begun = time.monotonic()
        profile, position = checked.profile, checked.position
        places = position("model.source"), position("model.sha256")
        source = resolve(profile.model, True, self.progress, checked.base, *places)
        adapters = self._adapters(checked)
        fetched = time.monotonic()
        checkpoint = read_checkpoint(source.path, position)
        plan = make_plan(profile, self.hardware, checkpoint, position=position, revision=revision)
        plan = replace(plan, server=replace(plan.server, adapters=adapters))
        seconds = {"model": fetched - begun, "plan": time.monotonic() - fetched}
        return Candidate(checked, source, plan, contents(profile), seconds)

    def _adapters(self, checked: Checked) -> dict[str, str]:
        """Folder by name, fetched where they are not here."""
        from appliance.source import fetch_adapter

        folders = {}
        for index, adapter in enumerate(checked.profile.model.adapters):
            path = f"model.adapters[{index}].source"
            folder = fetch_adapter(adapter.source, path, self.progress, checked.base, checked.position(path))
            folders[adapter.name] = str(folder)
        return folders


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


def contents(profile: Profile) -> dict[str, str]:
    """SHA-256 by field, of files whose names stay when their content changes. They were readable a moment ago."""
    files = {f"security.api_keys[{i}].file": key.file for i, key in enumerate(profile.security.api_keys)}
    files["model.chat_template"] = profile.model.chat_template
    return {path: _digest(Path(name)) for path, name in files.items() if name is not None}


def _digest(file: Path) -> str:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return ""


def _overtaken(found: Diagnostic) -> bool:
    """Said again, and better, by what comes next: the address is bound, a model that is not here yet is fetched."""
    return found.code in ADDRESS or (found.code == "AP0301" and found.severity is Severity.NOTE)
