"""`appliance plan FILE --against running`: what a reload with this file would do, told by the appliance that runs."""

from pathlib import Path
from typing import TYPE_CHECKING

from appliance.diagnostics import ApplianceError, Diagnostic, Position, Severity

from .running import ask, console, find, print_json

if TYPE_CHECKING:
    from appliance.supervise.admin_protocol import Planned


def plan_running(file: Path, state_dir: Path | None, json: bool) -> None:
    """The running appliance validates and plans the text in its own environment, on the machine it was booted for."""
    from appliance.supervise.admin_protocol import PlanAgainst, Planned

    text = read(file)
    found = find(None if state_dir else name_in(text), state_dir)
    planned = ask(found, PlanAgainst(text=text, file=str(file.absolute())), Planned, wait=True)
    if json:
        print_json(planned)
    else:
        print_planned(planned, found.name)


def read(file: Path) -> str:
    try:
        return file.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        said = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        finding = Diagnostic("AP0001", Severity.ERROR, Position(str(file)), "", f"cannot be read: {said}")
        raise ApplianceError([finding], exit_code=2) from error


def name_in(text: str) -> str | None:
    """Of the profile, as far as the text can be understood."""
    import yaml

    try:
        tree = yaml.safe_load(text)
    except yaml.YAMLError:
        return None
    name = tree.get("name") if isinstance(tree, dict) else None
    return name if isinstance(name, str) else None


def print_planned(planned: "Planned", name: str) -> None:
    import sys

    from rich.text import Text

    from .changes_text import changes_table, print_reasons, section
    from .outcome_text import ACTIONS
    from .show import show

    show(planned.findings, file=sys.stderr)
    out = console()
    if not planned.changes and planned.action == "none":
        out.print(f"no difference to {name} as it runs (revision {planned.revision}): nothing would be reloaded")
        return
    section(out, f"Changes from {name} as it runs (revision {planned.revision})", changes_table(planned.changes))
    print_reasons(out, planned.changes)
    out.print(Text.assemble("a reload would be ", (planned.action, "bold"), f": {ACTIONS.get(planned.action, '')}"))
    for reason in planned.reasons:
        out.print(Text(f"  {reason}", style="dim"))
