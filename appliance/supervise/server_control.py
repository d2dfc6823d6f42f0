"""The supervisor's side of server/control.py: commands to one API server process, and its answers, as awaitables."""

import asyncio
import itertools
from collections.abc import Callable
from typing import Any

import msgspec

from appliance.server.control import ENCODER, Answer, Command
from appliance.supervise.process import Process


class ServerGone(Exception):  # noqa: N818 - what happened to it
    """The process ended, or is being started: whoever follows it starts from the role its keeper holds."""


class ServerRefused(Exception):  # noqa: N818
    """It answered with a reason, or not in time."""


class ServerControl:
    """Of one kept server, over all its restarts."""

    def __init__(self) -> None:
        self._process: Process | None = None
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Answer]] = {}

    def attach(self, process: Process) -> None:
        self._process = process

    def lost(self) -> None:
        """The process is dead: nobody answers any more."""
        self._process = None
        waiting, self._waiting = self._waiting, {}
        for answer in waiting.values():
            if not answer.done():
                answer.set_exception(ServerGone("the server process ended"))

    def answered(self, event: dict[str, Any]) -> None:
        """One object it printed, with a `reference`."""
        answer = msgspec.convert(event, Answer)
        waiting = self._waiting.pop(answer.reference, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(answer)

    async def ask(self, make: Callable[[int], Command], seconds: float) -> Answer:
        """`make` gets the command's reference. Raises ServerGone, and ServerRefused for an error or silence."""
        number = next(self._numbers)
        command = make(number)
        waiting: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting[number] = waiting
        try:
            if self._process is None or not self._process.say(ENCODER.encode(command)):
                raise ServerGone("the server process is not there")
            async with asyncio.timeout(seconds):
                answer = await waiting
        except TimeoutError as error:
            raise ServerRefused(f"no answer to {_name(command)} within {seconds:g} s") from error
        finally:
            self._waiting.pop(number, None)
        if answer.error is not None:
            raise ServerRefused(answer.error)
        return answer


def _name(command: Command) -> str:
    return type(command).__name__.lower()
