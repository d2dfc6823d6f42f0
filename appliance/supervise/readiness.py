"""Follows the children for the life of the appliance: says when it can serve, and why it cannot."""

import asyncio
import time
from typing import Protocol

from appliance.diagnostics import Position
from appliance.supervise import probe
from appliance.supervise.hint import hint
from appliance.supervise.listener import url
from appliance.supervise.machine import Machine
from appliance.supervise.parts import Parts
from appliance.supervise.road import Road
from appliance.supervise.state import State
from appliance.supervise.transition import Running


class Watched(Protocol):
    parts: Parts
    road: Road
    started: float
    state: State
    running: Running | None
    machine: Machine | None
    changed_at: asyncio.Event
    """Set whenever a process or the running state is another."""

    @property
    def reloading(self) -> bool: ...

    def enter(self, state: State) -> None: ...


async def watch_readiness(watched: Watched) -> None:
    """Until cancelled. A reload minds its processes itself: nothing is said while one is under way."""
    report, changed = watched.parts.report, watched.changed_at
    since, said, told_hint = watched.started, "", False
    while True:
        while watched.machine is None or watched.reloading or not _all_ready(watched):
            changed.clear()
            if watched.state is State.READY and not watched.reloading:
                since = time.monotonic()
                watched.enter(State.STARTING)
            await changed.wait()
        if watched.state is State.READY:
            changed.clear()
            await changed.wait()
            continue
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


def _all_ready(watched: Watched) -> bool:
    engines = watched.running.generation.keepers if watched.running else ()
    keepers = [*engines, *watched.parts.servers.keepers]
    return bool(keepers) and all(keeper.state is State.READY for keeper in keepers)
