"""What a server reads a generation from: updates of one or several requests, in the order the engine sent them."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from typing import Self

from appliance.engine.protocol import Update


class EngineDied(Exception):  # noqa: N818
    """The engine is down, or went down while the request ran; the message says which."""


class UpdateStream:
    """`async for update in stream` ends after the last request's `finish_reason`.

    For one reader. Leaving `async with`, `close()` and a cancelled reader abort what has not finished.
    """

    def __init__(self, request_ids: Iterable[str], forget: Callable[[Iterable[str], bool], None]) -> None:
        self.unfinished = dict.fromkeys(request_ids)
        self._forget = forget
        self._updates: deque[Update] = deque()
        self._pending = len(self.unfinished)
        self._error: EngineDied | None = None
        self._reader: asyncio.Future[None] | None = None

    def put(self, update: Update) -> None:
        self._updates.append(update)
        if update.finish_reason is not None and update.request_id in self.unfinished:
            del self.unfinished[update.request_id]
            self._forget((update.request_id,), False)
        self._wake()

    def fail(self, error: EngineDied) -> None:
        """Updates that have arrived can still be read."""
        self._error = error
        self.unfinished.clear()
        self._wake()

    def close(self) -> None:
        """Idempotent."""
        left = list(self.unfinished)
        self.unfinished.clear()
        self._updates.clear()
        self._pending = 0
        if left:
            self._forget(left, True)
        self._wake()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Update:
        while not self._updates:
            if self._pending == 0:
                raise StopAsyncIteration
            if self._error is not None:
                raise self._error
            self._reader = asyncio.get_running_loop().create_future()
            try:
                await self._reader
            except asyncio.CancelledError:
                self.close()
                raise
            finally:
                self._reader = None
        update = self._updates.popleft()
        if update.finish_reason is not None:
            self._pending -= 1
        return update

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def _wake(self) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)
