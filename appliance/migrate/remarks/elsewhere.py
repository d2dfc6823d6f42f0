"""Variables that other files and objects bring."""

from collections.abc import Iterator

from appliance.diagnostics import Severity

from ..finding import Finding
from .scene import Scene, remark


def elsewhere_remarks(scene: Scene, index: int) -> Iterator[Finding]:
    for place in scene.deployments[index].elsewhere:
        if not place.read:
            fact = "is not seen from here, so its variables are not looked at"
            way_out = f"run `appliance migrate {place.name}` where it lies" if place.file else "look through it"
            subject = f"{place.kind} {place.name}"
            yield remark("VM0110", Severity.NOTE, subject, fact, way_out, scene.lines.at(place.span.start))
