"""Runs one appliance from its first boot to its last request: processes, signals, readiness.

Everything that varies comes in as a value (the socket, the folder, configurations, the report), and engines are
generations: a reload can boot number n + 1 on the same road while n serves.
"""

import asyncio
import dataclasses
import os
import signal
import socket
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import msgspec

from appliance.diagnostics import Position
from appliance.engine.config import EngineConfig
from appliance.server.config import ServerConfig
from appliance.supervise import probe
from appliance.supervise.errors import cannot_run
from appliance.supervise.folder import StateFolder
from appliance.supervise.generation import ENGINE, make_generation
from appliance.supervise.keeper import DiesAgainAndAgain, Keeper, RefusedToStart
from appliance.supervise.listener import url
from appliance.supervise.process import Role
from appliance.supervise.report import Report
from appliance.supervise.restart import DEFAULT, RestartPolicy
from appliance.supervise.state import State

SERVER = "appliance.server.main"
SERVER_GRACE = 4.0
"""Seconds past the drain time until a server that is still there is killed."""
ENGINE_GRACE = 5.0


@dataclass
class Supervisor:
    engine: EngineConfig
    server: ServerConfig
    listener: socket.socket
    folder: StateFolder
    report: Report
    position: Position
    hint: str
    """Printed when ready: a call to try."""
    on_hangup: Callable[[], Awaitable[None]]
    started: float = field(default_factory=time.monotonic)
    """When the command began, for the boot's total time."""
    policy: RestartPolicy = DEFAULT
    modules: dict[str, str] = field(default_factory=dict)
    """Stand-ins for the children's modules, by role."""
    state: State = State.STOPPED

    async def run(self) -> int:
        """Until SIGTERM, SIGINT or a failure. 0 = drained, 1 = cut short by a second signal."""
        module = self.modules.get("engine", ENGINE)
        self.generation = make_generation(1, self.engine, self.folder.runtime, self, self.policy, module)
        self._servers = [self._make_server()]
        self._ending = asyncio.Event()
        self._forced = asyncio.Event()
        self._changed = asyncio.Event()
        self._handle_signals()
        self._set(State.STARTING)
        self._booting = time.monotonic()
        kept = {keeper: asyncio.create_task(keeper.run()) for keeper in [self.generation.engine, *self._servers]}
        watch = asyncio.create_task(self._watch_readiness())
        ending = asyncio.create_task(self._ending.wait())
        try:
            await asyncio.wait({ending, watch, *kept.values()}, return_when=asyncio.FIRST_COMPLETED)
            failed = next((keeper for keeper, task in kept.items() if task.done() and task.exception()), None)
            if watch.done():
                watch.result()
            watch.cancel()
            await self._drain(kept, 0.0 if failed else self.server.drain_seconds)
            if failed:
                self._raise(failed.role, kept[failed].exception())
            return 1 if self._forced.is_set() else 0
        finally:
            # a keeper is told, never cancelled: asyncio can wait for ever for a process whose start was cancelled
            for keeper in kept:
                keeper.stop(signal.SIGKILL)
            for task in (watch, ending):
                task.cancel()
            await asyncio.gather(watch, ending, *kept.values(), return_exceptions=True)

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
        self._changed.set()

    def _make_server(self) -> Keeper:
        config = dataclasses.replace(
            self.server, engine_addresses=(self.generation.address,), generation=self.generation.number
        )
        handle = self.listener.fileno()
        module = self.modules.get("server", SERVER)
        role = Role("server", module, ("--fd", str(handle)), msgspec.json.encode(config), (handle,))
        return Keeper(role, self, self.policy)

    def _handle_signals(self) -> None:
        loop = asyncio.get_running_loop()
        self._hangups: set[asyncio.Task[None]] = set()

        def end() -> None:
            (self._forced if self._ending.is_set() else self._ending).set()

        def hang_up() -> None:
            task = asyncio.ensure_future(self.on_hangup())
            self._hangups.add(task)
            task.add_done_callback(self._hangups.discard)

        loop.add_signal_handler(signal.SIGTERM, end)
        loop.add_signal_handler(signal.SIGINT, end)
        loop.add_signal_handler(signal.SIGHUP, hang_up)

    def _set(self, state: State) -> None:
        self.state = state
        self.folder.write(
            pid=os.getpid(),
            state=state,
            url=url(self.listener) if self.listener.fileno() >= 0 else None,
            generation=self.generation.number,
            profile=self.position.file,
            since=time.time(),
        )

    async def _watch_readiness(self) -> None:
        """Follows the children for the life of the appliance: says when it can serve, and why it cannot."""
        address = probe.local_address(self.listener)
        since, said = self.started, ""
        while True:
            while not all(keeper.state is State.READY for keeper in (self.generation.engine, *self._servers)):
                self._changed.clear()
                if self.state is State.READY:
                    since = time.monotonic()
                    self._set(State.STARTING)
                await self._changed.wait()
            if self.state is State.READY:
                self._changed.clear()
                await self._changed.wait()
                continue
            answer = await probe.poll(address)
            if answer.ready:
                self._set(State.READY)
                self.report.ready(time.monotonic() - since, url(self.listener), self.server.served_names[0], self.hint)
                self.hint, said = "", ""
            elif answer.engine and answer.reason != said:
                said = answer.reason
                self.report.note(f"{self.position} AP0606 error endpoints: not ready: {said}", "error")

    async def _drain(self, kept: dict[Keeper, asyncio.Task[None]], seconds: float) -> None:
        """Servers first: they finish what runs while the engine still works for them. Then the engine."""
        self._set(State.DRAINING)
        self.listener.close()
        running = [keeper for keeper in self._servers if keeper.state is not State.FAILED]
        if seconds and self.generation.engine.state is State.READY:
            self.report.note(f"draining: running requests have up to {seconds:g} s; a second signal ends it now")
        await self._stop({keeper: kept[keeper] for keeper in running}, seconds + SERVER_GRACE)
        engine = self.generation.engine
        await self._stop({engine: kept[engine]}, ENGINE_GRACE if engine.state is State.READY else 0.0)
        self._set(State.STOPPED)

    async def _stop(self, kept: dict[Keeper, asyncio.Task[None]], seconds: float) -> None:
        tasks = [task for task in kept.values() if not task.done()]
        if not tasks:
            return
        for keeper in kept:
            keeper.stop()
        forced = asyncio.create_task(self._forced.wait())
        ended = asyncio.ensure_future(asyncio.wait(tasks))
        await asyncio.wait([forced, ended], timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        forced.cancel()
        if not ended.done():
            for keeper in kept:
                keeper.stop(signal.SIGKILL)
        await ended

    def _raise(self, role: Role, error: BaseException | None) -> None:
        if isinstance(error, RefusedToStart):
            fix = "correct it and start again"
            raise cannot_run(self.position, "AP0604", f"the {role.name} cannot start: {error}", fix) from error
        if isinstance(error, DiesAgainAndAgain):
            fix = "read its last lines above; signal 9 is often a lack of memory"
            raise cannot_run(self.position, "AP0605", f"the {role.name} process {error}", fix) from error
        if error is not None:
            raise error
