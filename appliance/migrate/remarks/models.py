"""Whether the target still serves the model's architecture: by its config.json where that lies here, else by name."""

import json
from collections.abc import Iterator
from pathlib import Path

from appliance.diagnostics import Severity
from appliance.migrations.architectures import Gone, gone, named
from appliance.migrations.release import Release

from ..finding import Finding
from .scene import Scene, remark

_LIMIT = 1 << 20


def model_remarks(scene: Scene, index: int) -> Iterator[Finding]:
    deployment = scene.deployments[index]
    model = deployment.model
    if not model:
        return
    architectures = _architectures(Path(scene.path).parent / model)
    site = next((site for site in deployment.sites if site.name == "model" and not site.source), None)
    place = scene.lines.at((site.value_span or site.name_span).start) if site else (0, 0)
    if architectures is not None:
        found = [one for name in architectures if (one := gone(name, scene.target))]
        yield from (_said(one, model, place, scene.target, Severity.ERROR, "is") for one in found)
    elif found_by_name := named(model, scene.target):
        yield _said(found_by_name, model, place, scene.target, Severity.WARNING, "is by its name")


def _said(one: Gone, model: str, place: tuple[int, int], target: Release, severity: Severity, sure: str) -> Finding:
    fact = f"{sure} a {one.name}, which the engine served up to {one.last.short}; {target.short} refuses it"
    way_out = f"install the plugin {one.plugin}" if one.plugin else f"serve another model, or stay on {one.last.short}"
    return remark("VM0116", severity, f"model {model}", fact, way_out, place)


def _architectures(folder: Path) -> list[str] | None:
    """None where the model does not lie here."""
    file = folder / "config.json"
    try:
        if not file.is_file() or file.stat().st_size > _LIMIT:
            return None
        config = json.loads(file.read_text(encoding="utf-8", errors="replace"))
    except (OSError, ValueError, RecursionError):
        return None
    names = config.get("architectures") if isinstance(config, dict) else None
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
