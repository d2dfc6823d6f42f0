"""Runs one appliance from its first boot to its last request: signals, readiness, the state machine, the end."""

import asyncio
import contextlib
import os
import signal
import time
import traceback
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any

from appliance.diagnostics import ApplianceError, Position
from appliance.supervise.admin import AdminServer
from appliance.supervise.admin_handler import AdminHandler
from appliance.supervise.crew import Crew
from appliance.supervise.first_boot import First, FirstBoot, cannot_boot
from appliance.supervise.folder import StateFolder
from appliance.supervise.following import Following
from appliance.supervise.front import SERVER, Front
from appliance.supervise.generation import Engines
from appliance.supervise.history import History
from appliance.supervise.listener import url
from appliance.supervise.machine import Machine
from appliance.supervise.parts import Parts
from appliance.supervise.process import Role
from appliance.supervise.proposal import Outcome, Proposal
from appliance.supervise.readiness import watch_readiness
from appliance.supervise.record import interrupt_unfinished
from appliance.supervise.report_current import CurrentReport
from appliance.supervise.restart import DEFAULT, RestartPolicy
from appliance.supervise.road import Road
from appliance.supervise.server_group import ServerGroup
from appliance.supervise.state import State
from appliance.supervise.transition import SETTLE_SECONDS, Running
from appliance.supervise.watching import Watching


@dataclass
class Supervisor:
    road: Road
    folder: StateFolder
    history: History
    report: CurrentReport
    bind: str | None = None
    """Instead of any profile's security.bind."""
    started: float = field(default_factory=time.monotonic)
    """When the command began, for the boot's total time."""
    policy: RestartPolicy = DEFAULT
    settle_seconds: float = SETTLE_SECONDS
    stall_seconds: float | None = None
    """Silence after which an engine counts as hanging; None = by its plan."""
    modules: dict[str, str] = field(default_factory=dict)
    """Stand-ins for the children's modules, by role."""
    state: State = State.STOPPED
    running: Running | None = None
    machine: Machine | None = None
    history_error: str = ""
    unready: str = ""

    async def run(self) -> int:
        """Until SIGTERM, SIGINT or a failure. 0 = drained, 1 = cut short by a second signal."""
        self._following = Following(self.folder.path, self.propose, self.report, self._git_changed)
        following = self._following
        handler = AdminHandler(self, lambda: following.status, lambda: following.text, following.again)
        async with contextlib.AsyncExitStack() as stack:
            try:
                await stack.enter_async_context(AdminServer(handler, self.folder.path, self._defect))
            except (OSError, ApplianceError) as error:
                self.report.note(f"no admin channel, so that no command reaches this appliance: {error}", "error")
            return await self._run()

    async def _run(self) -> int:
        self.parts = self._make_parts()
        self._ending, self.changed_at = asyncio.Event(), asyncio.Event()
        self._early: list[Proposal] = []
        self._background: set[asyncio.Task[Any]] = set()
        self._booting = time.monotonic()
        self._handle_signals()
        self.enter(State.STARTING)
        work = asyncio.create_task(self._work())
        watch = asyncio.create_task(watch_readiness(self))
        ending = asyncio.create_task(self._ending.wait())
        fallen = asyncio.create_task(self._fallen())
        tasks = {work, watch, ending, fallen}
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            failed = self._failure(work, watch)
            await self._cancel(work, watch)
            await self._drain(0.0 if failed else self._drain_seconds())
            if failed:
                raise failed
            return 1 if self.parts.crew.forced.is_set() else 0
        finally:
            await self._cancel(*tasks, *self._background)
            await self.parts.crew.end()

    async def propose(self, proposal: Proposal) -> Outcome:
        """Waits until it has been tried, or overtaken; once there is something to compare it with."""
        while self.machine is None:
            self.changed_at.clear()
            await self.changed_at.wait()
        return await self.machine.propose(proposal)

    def stage(self, role: Role, name: str, seconds: float) -> None:
        self.report.stage(f"{role.name}: {name}", seconds)

    def line(self, role: Role, text: str) -> None:
        self.report.line(role.name, text)

    def died(self, role: Role, how: str, delay: float) -> None:
        if role.name == "server":
            self._booting = time.monotonic() + delay
        self.report.note(f"the {role.name} process {how}; starting it again in {delay:g} s", "error")

    def changed(self, role: Role, state: State) -> None:
        if role.name == "server" and state is State.READY and self.state is State.STARTING:
            self.report.stage("server: accepting", time.monotonic() - self._booting)
        self.changed_at.set()

    def _make_parts(self) -> Parts:
        crew, report = Crew(), self.report
        module = self.modules.get("engine")
        engines = Engines(crew, self, self.folder.runtime, module, stall_seconds=self.stall_seconds)
        front = Front(crew, self, self.policy, self.folder.runtime, self.bind, self.modules.get("server", SERVER))
        return Parts(
            self.road,
            self.folder,
            crew,
            engines,
            ServerGroup(crew),
            front,
            self.history,
            report,
            self.policy,
            self.settle_seconds,
            self._history_refused,
        )

    async def _work(self) -> None:
        if (health := self.history.health()).state != "fine":
            self.report.note(health.detail, "warning")
        interrupt_unfinished(self.history)
        self._watching = Watching(self.road.file, self.propose, self.report)
        first = await FirstBoot(self.parts, self.started, self._exists).run()
        reading, kept = self._watching.reading, lambda: self._following.text
        self.machine = Machine(self.parts, first.running, first.facts, self._ended, reading, kept)
        self._serves(first)
        self._spawn(self._watching.run())
        self._spawn(self._following.run())
        await self.parts.servers.tell(first.facts)
        await self.machine.run()

    def _exists(self, running: Running) -> None:
        self.running = running
        self.enter(State.STARTING)

    def _serves(self, first: First) -> None:
        self.running = first.running
        self._follow(first.running)
        self.parts.crew.rely([*first.running.generation.keepers, *self.parts.servers.keepers], self.policy)
        self.changed_at.set()

    def _ended(self, proposal: Proposal, outcome: Outcome) -> None:
        assert self.machine is not None
        self.running = self.machine.running
        self._following.ended(proposal, outcome)
        self._follow(self.running)
        self.enter(self.state)
        self.changed_at.set()

    def _defect(self, error: Exception) -> None:
        lines = "".join(traceback.format_exception(error)).rstrip()
        self.report.note(f"a call on the admin channel met a defect of the appliance\n{lines}", "error")

    def _git_changed(self) -> None:
        status, machine = self._following.status, self.machine
        if machine is not None:
            self._spawn(machine.follows(status.state if status else None))

    def _follow(self, running: Running) -> None:
        self._following.follow(running.candidate.checked.profile, running.candidate.text)
        self.report.use(running.candidate.checked.profile.observability.log_format)
        self._watching.follow(running.candidate.checked.profile, running.candidate.plan)

    def _history_refused(self, why: str) -> None:
        if why != self.history_error:
            self.history_error = why
            self.report.note(why, "error")

    def _handle_signals(self) -> None:
        loop = asyncio.get_running_loop()

        def end() -> None:
            (self.parts.crew.forced if self._ending.is_set() else self._ending).set()

        loop.add_signal_handler(signal.SIGTERM, end)
        loop.add_signal_handler(signal.SIGINT, end)
        loop.add_signal_handler(
            signal.SIGHUP, lambda: self._spawn(self.propose(self._following.again(Proposal("sighup"))))
        )

    def _spawn(self, work: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._spawned)

    def _spawned(self, task: "asyncio.Task[Any]") -> None:
        """Nobody waits for it, so that its defect is told here: what runs runs on."""
        self._background.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and self.state not in (State.DRAINING, State.STOPPED):
            lines = "".join(traceback.format_exception(error)).rstrip()
            self.report.note(f"something in the background met a defect of the appliance\n{lines}", "error")

    def enter(self, state: State) -> None:
        self.state = state
        side, running = self.parts.front.side, self.running
        self.folder.write(
            name=running.candidate.checked.profile.name if running else self.folder.name,
            pid=os.getpid(),
            state=state,
            url=url(side.socket) if side is not None and side.socket.fileno() >= 0 else None,
            generation=running.generation.number if running else None,
            revision=running.revision if running else None,
            profile=str(self.road.file),
            since=time.time(),
        )

    @property
    def reloading(self) -> bool:
        return self.machine is not None and self.machine.trying is not None

    async def _fallen(self) -> None:
        """Until a process has ended for good that the appliance needs, and that no reload under way replaces."""
        crew = self.parts.crew
        while True:
            await crew.fallen.wait()
            while self.reloading:
                self.changed_at.clear()
                await self.changed_at.wait()
            if crew.failure() is not None:
                return
            crew.fallen.clear()

    def _failure(self, work: asyncio.Task[None], watch: asyncio.Task[None]) -> BaseException | None:
        fell = self.parts.crew.failure()
        if fell is not None:
            return cannot_boot(Position(str(self.road.file)), fell)
        for task in (work, watch):
            if task.done() and not task.cancelled() and task.exception() is not None:
                return task.exception()
        return None

    def _drain_seconds(self) -> float:
        return self.running.candidate.plan.server.drain_seconds if self.running else 0.0

    async def _drain(self, seconds: float) -> None:
        """Servers first: they finish what runs while the engines still work for them. Then the engines."""
        self.enter(State.DRAINING)
        running = self.running
        if seconds and running and all(keeper.state is State.READY for keeper in running.generation.keepers):
            self.report.note(f"draining: running requests have up to {seconds:g} s; a second signal ends it now")
        await self.parts.front.close(seconds)
        if running:
            await self.parts.engines.stop(running.generation)
        self.enter(State.STOPPED)

    async def _cancel(self, *tasks: asyncio.Task[Any]) -> None:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
