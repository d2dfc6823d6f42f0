"""A status, made from the supervisor's own parts when the question comes. Nothing is kept between two questions."""

import time
from collections.abc import Iterable
from typing import Protocol

import psutil

from appliance import __version__
from appliance.supervise.admin_answers import without_texts
from appliance.supervise.folder import StateFolder
from appliance.supervise.front import Front
from appliance.supervise.generation import Generation
from appliance.supervise.history import History
from appliance.supervise.history_records import Revision
from appliance.supervise.keeper import Keeper
from appliance.supervise.listener import url
from appliance.supervise.machine import Machine
from appliance.supervise.parts import Parts
from appliance.supervise.road import Road
from appliance.supervise.state import State
from appliance.supervise.status import ApplianceState, ApplianceStatus, FileStatus, GitStatus, ProcessStatus
from appliance.supervise.transition import Running


class Subject(Protocol):
    """What a supervisor is looked at through."""

    road: Road
    folder: StateFolder
    history: History
    parts: Parts
    started: float
    state: State
    running: Running | None
    machine: Machine | None
    history_error: str
    unready: str


def make_status(subject: Subject, name: str, file: FileStatus | None, git: GitStatus | None) -> ApplianceStatus:
    running, machine, history = subject.running, subject.machine, subject.history
    last = last_finished(history)
    wrong = reasons(subject)
    plan = running.candidate.plan if running else None
    facts = machine.facts if machine else None
    return ApplianceStatus(
        name=name,
        state=_state(subject, wrong),
        reasons=wrong,
        version=__version__,
        release=plan.release if plan else "",
        backend=plan.server.backend if plan else "",
        url=_url(subject.parts.front),
        model=plan.server.served_names[0] if plan else "",
        pid=psutil.Process().pid,
        state_folder=str(subject.folder.path),
        generation=running.generation.number if running else None,
        revision=running.revision if running else None,
        hash=running.candidate.hash if running else "",
        plan=plan.hash if plan else "",
        since=facts.last_success_time if facts and facts.last_success_time else None,
        uptime=time.monotonic() - subject.started,
        processes=processes(subject.parts.servers.keepers, subject.parts.engines.alive),
        reloading=_reloading(machine),
        waiting=len(machine.inbox) if machine else 0,
        last_reload=last,
        file=file,
        gitops=git,
        pin=history.pinned,
        history=history.health(),
    )


def last_finished(history: History) -> Revision | None:
    found = next((revision for revision in history.list() if revision.outcome is not None), None)
    return without_texts(found) if found else None


def reasons(subject: Subject) -> tuple[str, ...]:
    """Why it is not as its operator wants it, one sentence each."""
    found = []
    if subject.machine is not None and not subject.machine.facts.last_successful:
        bad = next((one for one in subject.history.list() if one.outcome in ("invalid", "rejected", "failed")), None)
        what = f"revision {bad.number} ({bad.source}) {bad.outcome}" if bad else "the last change failed"
        now = subject.running.revision if subject.running else None
        found.append(f"{what}; revision {now} runs")
    if subject.history_error and subject.history.health().state == "unwritable":
        found.append(subject.history_error)
    if subject.state is State.READY and subject.unready:
        found.append(f"its processes run, but it does not serve: {subject.unready}")
    if subject.state is State.READY and subject.running is not None:
        kept = [*subject.running.generation.keepers, *subject.parts.servers.keepers]
        away = {State.READY, State.STOPPED} if subject.machine and subject.machine.trying else {State.READY}
        found += [f"the {one.role.name} process is {one.state}" for one in kept if one.state not in away]
    return tuple(found)


def _state(subject: Subject, wrong: tuple[str, ...]) -> ApplianceState:
    if subject.state is State.READY and subject.machine is not None:
        return "degraded" if wrong else "ready"
    if subject.state is State.FAILED:
        return "degraded"
    ends: dict[State, ApplianceState] = {State.DRAINING: "draining", State.STOPPED: "stopped"}
    return ends.get(subject.state, "starting")


def _url(front: Front) -> str | None:
    side = front.side
    return url(side.socket) if side is not None and side.socket.fileno() >= 0 else None


def _reloading(machine: Machine | None) -> str:
    if machine is None or machine.trying is None:
        return ""
    phase = machine.phases.now if machine.phases else ""
    return f"{machine.trying.source}: {phase or 'deciding'}"


def processes(servers: Iterable[Keeper], generations: Iterable[Generation]) -> tuple[ProcessStatus, ...]:
    engines = [(keeper, generation.number) for generation in generations for keeper in generation.keepers]
    return tuple(_process(keeper, number) for keeper, number in [*((keeper, None) for keeper in servers), *engines])


def _process(keeper: Keeper, generation: int | None) -> ProcessStatus:
    memory = None
    if keeper.pid is not None:
        try:
            memory = psutil.Process(keeper.pid).memory_info().rss
        except psutil.Error:
            memory = None
    return ProcessStatus(
        role=keeper.role.name,
        state=str(keeper.state),
        pid=keeper.pid,
        generation=generation,
        memory_bytes=memory,
        restarts=max(0, keeper.starts - 1),
    )
