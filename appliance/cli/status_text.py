"""A status for people, on 80 columns."""

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from appliance.plan.units import plural, size
from appliance.supervise.history_records import HistoryHealth, Revision
from appliance.supervise.status import ApplianceStatus, FileStatus, GitStatus, ProcessStatus

from .changes_text import changes_table, grid, section
from .history_text import OUTCOMES, outcome_text
from .times import ago, duration

STATES = {"ready": "bold green", "starting": "cyan", "degraded": "bold yellow", "draining": "cyan", "stopped": "dim"}
FILES = {
    "synced": "what runs is what it says",
    "changed": "it says something else than what runs",
    "pinned": "it was rolled back from; it is tried again once it changes, or when appliance reload asks",
    "invalid": "it is not valid; what runs stays",
    "missing": "it cannot be read; what runs stays",
}
SETTLING = "settle"
SYNCS = {"Synced": "green", "OutOfSync": "yellow", "Invalid": "red", "Degraded": "red"}


def print_list(told: Iterable[ApplianceStatus], console: Console) -> None:
    table = grid(4)
    for one in told:
        where = one.url or ""
        revision = f"revision {one.revision}" if one.revision is not None else ""
        table.add_row(Text(one.name, style="bold"), Text(one.state, style=STATES[one.state]), revision, where)
    console.print(table)


def print_status(told: ApplianceStatus, console: Console) -> None:
    head = Text.assemble((told.name, "bold"), "  ", (told.state, STATES[told.state]))
    head.append(f"  {told.url}" if told.url else "")
    head.append(f"  up {duration(max(0.0, told.uptime))}" if told.uptime is not None else "", style="dim")
    console.print(head)
    for reason in told.reasons:
        console.print(Text(f"  {reason}", style="yellow" if told.state != "stopped" else "dim"))
    if told.revision is not None:
        _facts(told, console)
    if told.processes:
        section(console, "Processes", _processes(told.processes))
    if told.reloading or told.waiting:
        behind = f", {plural(told.waiting, 'proposal')} behind it" if told.waiting else ""
        doing = Text(f"{told.reloading}{behind}", style="cyan")
        if told.reloading.endswith(f": {SETTLING}"):
            doing.append(
                "\nthe new state serves already; it counts as running when its engine has lived ten seconds", "dim"
            )
        section(console, "Reload under way", doing)
    if told.last_reload is not None:
        section(console, "Last tried", _last(told.last_reload))
    said = told.last_reload.error or "" if told.last_reload else ""
    if told.file is not None:
        _file(told.file, console, said)
    if told.gitops is not None:
        section(console, "GitOps", _gitops(told.gitops, said))
    section(console, "History", _history(told.history, told))


def _facts(told: ApplianceStatus, console: Console) -> None:
    table = grid(2)
    table.add_row("revision", f"{told.revision}, text {told.hash}, plan {told.plan}")
    table.add_row("generation", str(told.generation))
    table.add_row("engine", f"{told.backend}, release {told.release}, model {told.model}")
    if told.since is not None:
        table.add_row("since", ago(told.since))
    section(console, "Runs", table)


def _processes(processes: Iterable[ProcessStatus]) -> Table:
    table = grid(5)
    for process in processes:
        extra = [f"generation {process.generation}"] if process.generation is not None else []
        extra += [plural(process.restarts, "restart")] if process.restarts else []
        state = "green" if process.state == "ready" else "yellow"
        table.add_row(
            process.role,
            Text(process.state, style=state),
            f"pid {process.pid}" if process.pid else "",
            size(process.memory_bytes) if process.memory_bytes is not None else "",
            Text(", ".join(extra), style="dim"),
        )
    return table


def _last(last: Revision) -> Text:
    text = Text.assemble(f"revision {last.number} ", outcome_text(last.outcome), f", {ago(last.at)}")
    text.append(f", in {duration(last.seconds)}" if last.seconds is not None else "")
    text.append(f", by {last.source}")
    text.append(f" ({last.actor})" if last.actor else "")
    text.append(f": {OUTCOMES[last.outcome].meaning}" if last.outcome not in (None, "applied") else "", "dim")
    if last.error:
        text.append(f"\n{last.error}", style="red")
    return text


def _file(file: FileStatus, console: Console, said: str) -> None:
    """`said`: what stands above already."""
    style = "green" if file.state == "synced" else "red" if file.state in ("invalid", "missing") else "yellow"
    text = Text.assemble((file.state, style), f": {FILES[file.state]}\n", (file.path, "dim"))
    if file.error and file.error not in said:
        text.append(f"\n{file.error}", style="red")
    section(console, "Profile", text)
    if file.drift:
        section(console, "  differs in", changes_table(file.drift))


def _gitops(git: GitStatus, said: str) -> Text:
    text = Text.assemble((git.state, SYNCS[git.state]), f": {git.repo}, {git.ref}, {git.path}")
    if git.commit:
        text.append(f"\n{git.commit[:12]} {git.subject}").append(f"  {git.author}", style="dim")
    if git.running and git.running != git.commit:
        text.append(f"\nwhat runs is {git.running[:12]}", style="yellow")
    if git.checked is not None:
        text.append(f"\nchecked {ago(git.checked)}", style="dim")
    if git.error and git.error not in said:
        text.append(f"\n{git.error}", style="red")
    return text


def _history(health: HistoryHealth, told: ApplianceStatus) -> Text:
    text = Text(plural(health.revisions, "revision"))
    if told.pin is not None:
        text.append(f", held at revision {told.pin.revision} by a rollback")
    if health.unwritten:
        text.append(f"\n{plural(health.unwritten, 'revision')} not written yet", style="red")
    if health.detail:
        text.append(f"\n{health.detail}", style="red" if health.state == "unwritable" else "yellow")
    return text
