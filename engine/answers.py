"""Changes a client has asked an engine for, and who waits for the answers."""

import asyncio
import itertools
from collections.abc import Callable

from appliance.engine.protocol import AdapterAnswer, LoadAdapter, Reconfigure, Reconfigured, UnloadAdapter

Change = Reconfigure | LoadAdapter | UnloadAdapter
Answer = Reconfigured | AdapterAnswer


class Answers:
    def __init__(self) -> None:
        self._references = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Answer]] = {}

    def reference(self) -> int:
        return next(self._references)

    async def to(self, change: Change, send: Callable[[Change], None], timeout: float | None) -> None:
        """Raises ValueError with the engine's reason, what `fail` was given, what `send` raises, TimeoutError."""
        answer = self._waiting[change.reference] = asyncio.get_running_loop().create_future()
        try:
            send(change)
            async with asyncio.timeout(timeout):
                error = (await answer).error
        finally:
            del self._waiting[change.reference]
        if error is not None:
            raise ValueError(error)

    def put(self, answer: Answer) -> None:
        """Nobody waits any more: fine."""
        waiting = self._waiting.get(answer.reference)
        if waiting is not None and not waiting.done():
            waiting.set_result(answer)

    def fail(self, error: Exception) -> None:
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(error)
