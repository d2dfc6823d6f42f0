"""Case files of the script dialects: what is read from them, and what they become, without remarks."""

from pathlib import Path

from appliance.migrations.canonical import Deployment, Edit, OptionSite, apply_edits
from appliance.migrations.dialects import Dialect, load
from appliance.migrations.operations import CannotEditError, Operation
from appliance.migrations.plan import plan_changes
from appliance.migrations.release import Release

FOLDER = Path(__file__).parent.parent / "migrations" / "cases" / "script"
DIALECTS = {
    ".sh": "shell",
    ".service": "systemd",
    ".container": "systemd",
    ".Dockerfile": "dockerfile",
    ".mk": "makefile",
    ".env": "dotenv",
    ".py": "python",
    ".nix": "nix",
    ".tf": "text",
    ".bat": "text",
    ".conf": "text",
}
CASES = sorted(path for path in FOLDER.iterdir() if path.suffix in DIALECTS)
TARGET = Release(0, 32)


def dialect_of(path: Path) -> Dialect:
    return load(DIALECTS[path.suffix])


def text_of(path: Path) -> str:
    return path.read_bytes().decode()


def told(deployments: list[Deployment]) -> str:
    """The sites in a form that a person reads."""
    lines = []
    for deployment in deployments:
        hint = deployment.release
        known = f"{hint.text} = {hint.release.short if hint.release else '?'} ({hint.source})" if hint else "-"
        known += f", {deployment.python.text}" if deployment.python else ""
        kind = "edit" if deployment.editable else "report"
        lines.append(
            f"{deployment.entrypoint} | {deployment.label or '-'} | {deployment.model or '-'} | {known} | {kind}"
        )
        for site in deployment.sites:
            name = ".".join((site.name, *site.path))
            lines.append(f"  {site.kind} {name} = {site.value!r}" + (f" !{site.quirk}" if site.quirk else ""))
    return "\n".join(lines) + "\n"


def carried_out(dialect: Dialect, text: str, deployment: Deployment, operations: list[Operation]) -> list[Edit]:
    """The edits of all operations that the dialect can carry out."""
    while True:
        try:
            return dialect.edit(text, deployment, operations)
        except CannotEditError as refused:
            operations = [operation for operation in operations if operation is not refused.operation]


def migrated(dialect: Dialect, path: str, text: str, comments: bool = False) -> str:
    edits: list[Edit] = []
    for deployment in dialect.read(path, text):
        if deployment.editable:
            start = deployment.release.release if deployment.release else None
            changes = plan_changes(deployment.sites, start, TARGET, deployment.model, comments)
            operations = [operation for change in changes for operation in change.operations]
            edits += carried_out(dialect, text, deployment, operations)
    return apply_edits(text, edits)


def covered(text: str, sites: tuple[OptionSite, ...], edit: Edit) -> bool:
    """Whether every character that the edit takes away belongs to a site, or is the comma behind several that go."""
    reached = edit.span.start
    for element in sorted(site.element for site in sites):
        if element.start <= reached < element.end:
            reached = element.end
    left = text[reached : edit.span.end]
    return not left or (left.strip() == "," and edit.replacement == "")
