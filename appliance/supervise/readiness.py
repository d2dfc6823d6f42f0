"""Follows the children for the life of the appliance: says when it can serve, and why it cannot."""

import asyncio
import contextlib
import time
from typing import Protocol

from appliance.diagnostics import Position
from appliance.supervise import probe
from appliance.supervise.folder import StateFolder
from appliance.supervise.hint import hint
from appliance.supervise.listener import url
from appliance.supervise.machine import Machine
from appliance.supervise.parts import Parts
from appliance.supervise.road import Road
from appliance.supervise.state import State
from appliance.supervise.transition import Running

LOOK_SECONDS = 2.0
"""Between two looks at whether what runs serves as well: a process can be there and not answer."""
GONE = (
    "AP0603 error the state folder was removed under this appliance, which serves on: no command reaches it, its "
    "history is lost, new engines find no place; start it again when it may pause"
)
DOUBTS = 2
"""Looks in a row that find it does not, before it is told."""


class Watched(Protocol):
    parts: Parts
    folder: StateFolder
    road: Road
    started: float
    state: State
    running: Running | None
    machine: Machine | None
    changed_at: asyncio.Event
    """Set whenever a process or the running state is another."""
    unready: str
    """Why it does not serve although its processes are there; empty where it does."""

    @property
    def reloading(self) -> bool: ...

    def enter(self, state: State) -> None: ...


async def watch_readiness(watched: Watched) -> None:
    """Until cancelled. A reload minds its processes itself: nothing is said while one is under way."""
    report, changed = watched.parts.report, watched.changed_at
    since, said, told_hint, doubts, told_gone = watched.started, "", False, 0, False
    while True:
        while watched.machine is None or watched.reloading or not _all_ready(watched):
            changed.clear()
            if watched.state is State.READY and not watched.reloading:
                since = time.monotonic()
                watched.enter(State.STARTING)
            await changed.wait()
        if watched.state is State.READY:
            changed.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    await changed.wait()
                    continue
            doubts = await _doubt(watched, doubts)
            if watched.folder.gone and not told_gone:
                told_gone = True
                report.note(f"{Position(str(watched.folder.path))} {GONE}", "error")
            continue
        watched.unready, doubts = "", 0
        listening = watched.parts.front.listening
        answer = await probe.poll(probe.local_address(listening))
        if watched.running is None or listening.fileno() < 0:
            continue
        if answer.ready:
            watched.enter(State.READY)
            server, here = watched.running.candidate.plan.server, url(listening)
            text = "" if told_hint else hint(here, server)
            report.ready(time.monotonic() - since, here, server.served_names[0], text)
            said, told_hint = "", True
        elif answer.engine and answer.reason != said:
            said = answer.reason
            report.note(f"{Position(str(watched.road.file))} AP0606 error endpoints: not ready: {said}", "error")


async def _doubt(watched: Watched, doubts: int) -> int:
    """How many looks in a row have found that it does not serve. The first and the last of them are told."""
    listening = watched.parts.front.listening
    answer = await probe.poll(probe.local_address(listening))
    if listening.fileno() < 0 or watched.reloading or not _all_ready(watched):
        return doubts
    if answer.ready:
        if watched.unready:
            watched.parts.report.note("serves again")
        watched.unready = ""
        return 0
    reason = answer.reason or "it is not ready"
    if doubts + 1 >= DOUBTS and reason != watched.unready:
        watched.unready = reason
        watched.parts.report.note(f"its processes run, but it does not serve: {reason}", "error")
    return doubts + 1


def _all_ready(watched: Watched) -> bool:
    engines = watched.running.generation.keepers if watched.running else ()
    keepers = [*engines, *watched.parts.servers.keepers]
    return bool(keepers) and all(keeper.state is State.READY for keeper in keepers)
