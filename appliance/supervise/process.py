"""One child process: started, fed its configuration, listened to, ended. Restarting it is the keeper's work."""

import asyncio
import contextlib
import json
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from appliance.child import command, die_with_parent, environment

LINE_BYTES = 1 << 20


@dataclass(frozen=True)
class Role:
    """What to run, whoever runs it and however often."""

    name: str
    """`engine` or `server`: prefix of its log lines."""
    module: str
    arguments: tuple[str, ...] = ()
    configuration: bytes = b"{}"
    """One line of JSON for its standard input."""
    inherits: tuple[int, ...] = ()
    """File descriptors it gets."""
    talks: bool = False
    """Its standard input stays open for further lines."""


@dataclass
class Process:
    """`on_event` gets the JSON objects it prints, `on_line` every other line."""

    role: Role
    on_event: Callable[[dict[str, Any]], None]
    on_line: Callable[[str], None]
    greeting: bytes = b""
    """Whole lines that follow its configuration at once."""
    last_lines: list[str] = field(default_factory=list)
    """The end of what it wrote, for whoever has to explain its death."""
    _child: asyncio.subprocess.Process | None = None
    _early: signal.Signals | None = None
    """Came while the child was being born."""
    _listens: bool = False

    async def run(self) -> int:
        """Stays until it is dead and all it wrote is passed on. The exit code; -N = killed by signal N."""
        child = self._child = await asyncio.create_subprocess_exec(
            *command(self.role.module, *self.role.arguments),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=environment(),
            pass_fds=self.role.inherits,
            start_new_session=True,
            preexec_fn=die_with_parent(),
            limit=LINE_BYTES,
        )
        assert child.stdin and child.stdout and child.stderr
        try:
            if self._early is not None:
                self.signal(self._early)
            with contextlib.suppress(ConnectionError):
                child.stdin.write(self.role.configuration + b"\n" + self.greeting)
                await child.stdin.drain()
            self._listens = self.role.talks
            if not self.role.talks:
                child.stdin.close()
            await asyncio.gather(self._pump(child.stdout, True), self._pump(child.stderr, False))
            return await child.wait()
        finally:
            self._listens = False
            child.stdin.close()
            self.signal(signal.SIGKILL)

    def say(self, line: bytes) -> bool:
        """One line to its standard input; False when it does not listen (not yet, or no more)."""
        if not self._listens or self._child is None or self._child.stdin is None or self._child.stdin.is_closing():
            return False
        self._child.stdin.write(line + b"\n")
        return True

    @property
    def pid(self) -> int | None:
        """None before its start and after its end."""
        return self._child.pid if self._child is not None and self._child.returncode is None else None

    def signal(self, number: signal.Signals) -> None:
        if self._child is None:
            self._early = number
        elif self._child.returncode is None:
            self._child.send_signal(number)

    async def _pump(self, stream: asyncio.StreamReader, events: bool) -> None:
        while True:
            try:
                raw = await stream.readline()
            except ValueError:
                continue
            if not raw:
                return
            line = raw.decode(errors="replace").rstrip()
            event = _event(line) if events else None
            if event is not None:
                self.on_event(event)
            elif line:
                self.last_lines = [*self.last_lines[-19:], line]
                self.on_line(line)


def _event(line: str) -> dict[str, Any] | None:
    try:
        event = json.loads(line)
    except ValueError:
        return None
    return event if isinstance(event, dict) else None
