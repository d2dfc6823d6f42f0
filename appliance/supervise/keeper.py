"""Keeps one child process alive: back-off after deaths, and a loud end when it dies again and again."""

import asyncio
import contextlib
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from appliance.supervise.process import Process, Role
from appliance.supervise.restart import DEFAULT, RestartPolicy
from appliance.supervise.server_control import ServerControl
from appliance.supervise.state import State


class Listener(Protocol):
    """Whoever wants to know how a kept process fares."""

    def stage(self, role: Role, name: str, seconds: float) -> None: ...

    def line(self, role: Role, text: str) -> None: ...

    def died(self, role: Role, how: str, delay: float) -> None:
        """It starts again in `delay` seconds."""
        ...

    def changed(self, role: Role, state: State) -> None: ...


class RefusedToStart(Exception):  # noqa: N818 - what the child did, not what we did
    """The child named a known reason; a restart would not change it."""


class DiesAgainAndAgain(Exception):  # noqa: N818
    """The restart policy gave up."""


@dataclass(eq=False)
class Keeper:
    """`role` and `policy` may be replaced while it runs: the next start goes by them."""

    role: Role
    listener: Listener
    policy: RestartPolicy = DEFAULT
    clock: Callable[[], float] = time.monotonic
    control: ServerControl | None = None
    """For a role that talks."""
    greeting: Callable[[], bytes] = bytes
    """Lines that a process gets right after its configuration."""
    state: State = State.STOPPED
    starts: int = 0
    """Processes so far: another number is another process."""
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    _process: Process | None = None
    _stop: asyncio.Event = field(default_factory=asyncio.Event)
    _refusal: str | None = None
    _killed: str | None = None
    _deaths: list[float] = field(default_factory=list)
    _was_ready: bool = False

    async def run(self) -> None:
        """Returns once the process has ended after `stop`. Raises RefusedToStart or DiesAgainAndAgain."""
        while not self._stop.is_set():
            self._set(State.STARTING)
            self._refusal = self._killed = None
            code = await self._live()
            if self._stop.is_set():
                break
            how = self._refusal or self._killed or _ending(code)
            if self._refusal is not None and not self._was_ready:
                self._set(State.FAILED)
                raise RefusedToStart(how)
            await self._back_off(how)
        self._set(State.STOPPED)

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        """No restart from here on; the running process gets the signal."""
        self._stop.set()
        if self._process is not None:
            self._process.signal(number)

    def kill(self, why: str) -> None:
        """The running process dies, and what its policy says about deaths follows."""
        if self._process is not None:
            self._killed = why
            self._process.signal(signal.SIGKILL)

    def let_go(self) -> None:
        """The running process may end by itself; none follows it."""
        self._stop.set()

    async def _live(self) -> int:
        self.starts += 1
        line = self.listener.line
        process = self._process = Process(self.role, self._event, lambda text: line(self.role, text), self.greeting())
        if self.control is None:
            return await process.run()
        self.control.attach(process)
        try:
            return await process.run()
        finally:
            self.control.lost()

    async def _back_off(self, how: str) -> None:
        now = self.clock()
        self._deaths = [*self._deaths, now]
        delay = self.policy.delay(self._deaths, now)
        if delay is None:
            self._set(State.FAILED)
            limit = self.policy.limit
            often = f"; it died {limit} times within {self.policy.window:g} s" if limit > 1 else ""
            raise DiesAgainAndAgain(f"{how}{often}")
        self.listener.died(self.role, how, delay)
        self._set(State.STARTING)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(delay):
                await self._stop.wait()

    def _event(self, event: dict[str, Any]) -> None:
        if "reference" in event and self.control is not None:
            self.control.answered(event)
        elif "stage" in event:
            self.listener.stage(self.role, str(event["stage"]), float(event.get("seconds", 0.0)))
        elif event.get("ready"):
            self._was_ready = True
            self._set(State.READY)
        elif "error" in event:
            self._refusal = str(event["error"])

    def _set(self, state: State) -> None:
        if state is State.READY:
            self.ready.set()
        else:
            self.ready.clear()
        if state is not self.state:
            self.state = state
            self.listener.changed(self.role, state)


def _ending(code: int) -> str:
    if code >= 0:
        return f"ended with code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"was killed by {name}"
