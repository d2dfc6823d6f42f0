"""The one road from a file to something that can boot: validate, source, plan. First boot and every reload take it."""

import time
from dataclasses import dataclass
from pathlib import Path

from appliance.diagnostics import ApplianceError, Diagnostic, Position, Severity
from appliance.plan import Plan
from appliance.profile import Document, Profile
from appliance.source import Progress, ResolvedSource

ADDRESS = {"AP0308", "AP0309"}
"""What validation says about the address: here it is bound, which says it better."""


@dataclass(frozen=True)
class Checked:
    """A profile without errors; warnings may remain in `findings`."""

    file: Path
    document: Document
    profile: Profile
    findings: tuple[Diagnostic, ...]

    def position(self, path: str) -> Position:
        return self.document.position(path)


@dataclass(frozen=True)
class Prepared:
    checked: Checked
    source: ResolvedSource
    plan: Plan
    seconds: dict[str, float]


def read_profile(file: Path) -> Checked:
    """All tiers of validation, with the model where it is here already. ApplianceError with everything found."""
    from appliance.source import here
    from appliance.validate import validate

    result = validate(file, locate=lambda profile: here(profile.model, file.parent))
    findings = tuple(found for found in result.diagnostics if not _overtaken(found))
    if result.profile is None or any(found.severity is Severity.ERROR for found in findings):
        raise ApplianceError(list(findings), exit_code=1 if result.readable else 2)
    return Checked(file, result.document, result.profile, findings)


def prepare(checked: Checked, progress: Progress) -> Prepared:
    """Fetches the model when it is not here and plans for this machine. ApplianceError when either fails."""
    from appliance.plan import make_plan, probe, read_checkpoint
    from appliance.source import resolve

    seconds: dict[str, float] = {}
    begun = time.monotonic()
    profile, position = checked.profile, checked.position
    source = resolve(profile.model, True, progress, checked.file.parent, position("model.source"))
    seconds["model"] = time.monotonic() - begun
    begun = time.monotonic()
    plan = make_plan(profile, probe(), read_checkpoint(source.path, position), position=position)
    seconds["plan"] = time.monotonic() - begun
    return Prepared(checked, source, plan, seconds)


def _overtaken(found: Diagnostic) -> bool:
    """Said again, and better, by what comes next: the address is bound, a model that is not here yet is fetched."""
    return found.code in ADDRESS or (found.code == "AP0301" and found.severity is Severity.NOTE)
