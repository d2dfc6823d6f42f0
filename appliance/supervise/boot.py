"""`appliance up` from the file to the supervisor's end."""

import asyncio
import contextlib
from pathlib import Path

from appliance.diagnostics import ApplianceError, Position
from appliance.plan import probe
from appliance.source import Progress
from appliance.supervise.folder import StateFolder, default_folder
from appliance.supervise.history import FILE, History
from appliance.supervise.report_current import CurrentReport
from appliance.supervise.report_progress import ReportProgress
from appliance.supervise.road import Checked, InvalidText, Road, check
from appliance.supervise.supervisor import Supervisor


def boot(file: Path, bind: str | None, state_dir: Path | None, started: float, progress: Progress) -> int:
    """Exit code. ApplianceError for everything known that prevents it. `started` is when the command began."""
    checked, invalid = _look(file)
    name = checked.profile.name if checked else _name(invalid)
    path = state_dir or (default_folder(name) if name else None)
    if invalid is not None and (path is None or not (path / FILE).exists()):
        raise invalid
    assert path is not None
    position = checked.position("name") if checked else Position(str(file))
    log_format = checked.profile.observability.log_format if checked else "text"
    report = CurrentReport(log_format)
    with StateFolder(path, position, name) as folder, contextlib.closing(History(folder.path / FILE)) as history:
        road = Road(file, probe(), progress if log_format == "text" else ReportProgress(report))
        supervisor = Supervisor(road, folder, history, report, bind, started)
        return asyncio.run(supervisor.run())


def _look(file: Path) -> tuple[Checked | None, InvalidText | None]:
    """The name says which state folder it is, and whether there is anything to fall back on."""
    try:
        return check(file), None
    except InvalidText as error:
        return None, error


def _name(invalid: ApplianceError | None) -> str | None:
    """Of a text that is not valid; None where it does not tell."""
    from appliance.profile.text import read_text

    if not isinstance(invalid, InvalidText):
        return None
    tree = read_text(invalid.text, "")[0].tree if invalid.text else None
    name = tree.get("name") if isinstance(tree, dict) else None
    return name if isinstance(name, str) and name.replace("-", "").replace(".", "").replace("_", "").isalnum() else None
