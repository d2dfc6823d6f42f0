"""What a remark may look at: the whole file with all its deployments, of which it speaks about one at a time."""

from dataclasses import dataclass

from appliance.diagnostics import Severity
from appliance.migrations.canonical import Deployment
from appliance.migrations.change import Change, Part
from appliance.migrations.release import Release

from ..finding import Finding
from ..source import Lines


@dataclass(frozen=True)
class Scene:
    """starts: the release that each deployment was written for, None where nothing tells."""

    path: str
    dialect: str
    text: str
    lines: Lines
    deployments: tuple[Deployment, ...]
    starts: tuple[Release | None, ...]
    target: Release


def remark(
    code: str,
    severity: Severity,
    subject: str,
    fact: str,
    way_out: str = "",
    place: tuple[int, int] = (0, 0),
    part: Part = Part.DECISION,
) -> Finding:
    """place: line and column, from 1; zeros for the deployment as a whole."""
    return Finding(Change(part, code, severity, subject, f"{subject}: {fact}", way_out), *place)
