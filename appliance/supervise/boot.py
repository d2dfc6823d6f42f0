"""`appliance up` from the file to the supervisor's end."""

import asyncio
import time
from pathlib import Path

from appliance.diagnostics import ApplianceError, Position, Severity
from appliance.source import Progress
from appliance.supervise.differences import differences
from appliance.supervise.folder import StateFolder, default_folder
from appliance.supervise.hint import hint
from appliance.supervise.listener import listen, url
from appliance.supervise.report import REPORTS, Report
from appliance.supervise.report_progress import ReportProgress
from appliance.supervise.road import Checked, prepare, read_profile
from appliance.supervise.supervisor import Supervisor


def boot(file: Path, bind: str | None, state_dir: Path | None, started: float, progress: Progress) -> int:
    """Exit code. ApplianceError for everything known that prevents it. `started` is when the command began."""
    checked = read_profile(file)
    profile = checked.profile
    report = REPORTS[profile.observability.log_format]()
    for finding in checked.findings:
        report.note(str(finding), "info" if finding.severity is Severity.NOTE else finding.severity)
    if bind is None:
        listener = listen(profile.security.bind, checked.position("security.bind"))
    else:
        listener = listen(bind, Position("--bind"), "")
    with listener, StateFolder(state_dir or default_folder(profile.name), checked.position("name")) as folder:
        report.heading(f"{profile.name}, release {profile.release}, on {url(listener)}")
        report.stage("profile", time.monotonic() - started)
        told = progress if profile.observability.log_format == "text" else ReportProgress(report)
        prepared = prepare(checked, told)
        report.stage("model", prepared.seconds["model"], prepared.source.path.name)
        report.stage("plan", prepared.seconds["plan"])
        supervisor = Supervisor(
            engine=prepared.plan.engine,
            server=prepared.plan.server,
            listener=listener,
            folder=folder,
            report=report,
            position=Position(str(file)),
            hint=hint(url(listener), prepared.plan.server),
            on_hangup=lambda: _look_again(checked, report),
            started=started,
        )
        return asyncio.run(supervisor.run())


async def _look_again(running: Checked, report: Report) -> None:
    """SIGHUP: the profile is read and judged again, and what a restart would change is said."""
    try:
        changed = differences(running.profile, (await asyncio.to_thread(read_profile, running.file)).profile)
    except ApplianceError as error:
        report.note(f"SIGHUP: the profile is not valid now, the running one stays\n{error}", "error")
        return
    if not changed:
        report.note("SIGHUP: the profile is unchanged")
        return
    listed = "\n".join(f"  {line}" for line in changed)
    fact = "SIGHUP: live reload is not in this release yet (AP0607); restart to apply"
    report.note(f"{fact}\n{listed}", "warning")
