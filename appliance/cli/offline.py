"""A profile and its plan for some machine, with the model that is here already: nothing is started or fetched."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from appliance.plan import HardwareSnapshot, Plan
    from appliance.profile import Profile
    from appliance.validate import ValidationResult


def validate_offline(file: Path) -> "tuple[ValidationResult, Profile]":
    """ApplianceError for a profile with errors."""
    from appliance.diagnostics import ApplianceError
    from appliance.source import here
    from appliance.validate import validate

    checked = validate(file, offline=True, locate=lambda profile: here(profile.model, file.parent))
    if checked.profile is None or checked.errors:
        raise ApplianceError(list(checked.errors), exit_code=1 if checked.readable else 2)
    return checked, checked.profile


def plan_offline(
    file: Path, checked: "ValidationResult", profile: "Profile", machine: "HardwareSnapshot", forecast: bool
) -> "Plan":
    """ApplianceError for a model or an adapter that is not here, or a plan that does not fit."""
    from appliance.plan import make_plan, read_checkpoint
    from appliance.source import resolve, resolve_adapters

    position = checked.position
    found = resolve(profile.model, base=file.parent, position=position("model.source"), digest=position("model.sha256"))
    checkpoint = read_checkpoint(found.path, position)
    adapters = resolve_adapters(profile.model, False, file.parent, position)
    return make_plan(profile, machine, checkpoint, position=position, forecast=forecast, adapters=adapters)
