"""Where new work waits while the supervisor holds it: a bounded queue with a deadline."""

import asyncio
import contextlib
import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive

from appliance.server.admission import Admission
from appliance.server.board import Board
from appliance.server.errors import ApiError, unavailable

KEPT_BYTES = 1 << 20
"""Of a waiting request's body; what lies beyond stays with the client until its turn, and so does its leaving."""
MOST_RETRY_SECONDS = 30


@dataclass(frozen=True)
class Watch:
    """`down` while nothing that comes could be answered: it is held with these numbers then."""

    requests: int
    seconds: float
    down: Callable[[], bool]


class Gate:
    """Its bound is that of all server processes together, as those of the queue are."""

    def __init__(self, board: Board, admission: Admission) -> None:
        self._board = board
        self._admission = admission
        self._open = asyncio.Event()
        self._open.set()
        self._requests = 0
        self._seconds = 0.0
        self._since = 0.0
        self._refusal: ApiError | None = None
        self._watch: Watch | None = None
        self._tripped = False

    @property
    def waiting(self) -> int:
        return self._board.all_held

    @property
    def closed(self) -> bool:
        self.look()
        return not self._open.is_set()

    @property
    def watching(self) -> bool:
        return self._watch is not None

    @property
    def overdue(self) -> float:
        """Seconds that it has been closed for, once those are more than a request waits; else 0."""
        closed = time.monotonic() - self._since
        return closed if self.closed and closed > self._seconds else 0.0

    def hold(self, requests: int, seconds: float) -> None:
        """Who waits already keeps the deadline it came with."""
        if self._open.is_set():
            self._since = time.monotonic()
        self._requests, self._seconds = requests, seconds
        self._tripped = False
        self._open.clear()

    def watch(self, watch: Watch | None) -> None:
        """It closes by itself while `watch` finds the engines down; None = no longer."""
        self._watch = watch

    def look(self) -> None:
        if self._watch is None:
            return
        down = self._watch.down()
        if down and self._open.is_set():
            self.hold(self._watch.requests, self._watch.seconds)
            self._tripped = True
        elif self._tripped and not down:
            self.release()

    def release(self, refusal: ApiError | None = None) -> None:
        """With a refusal, whoever waits gets that."""
        self._refusal = refusal
        self._tripped = False
        self._open.set()

    async def opened(self) -> None:
        self.look()
        await self._open.wait()

    async def enter(self, receive: Receive) -> Receive:
        """Waits for a release; what the request goes on reading its body from.

        Raises ApiError 503 without room, after the deadline or in a shutdown, ClientDisconnect when the client leaves.
        """
        # of a held request no more is known than that it is one
        waiting = self.waiting
        if waiting >= min(self._requests, self._admission.max_requests - self._admission.all_requests):
            raise unavailable(f"the engine is being replaced and {waiting} requests wait for it", self._retry())
        self._board.held += 1
        messages: list[Message] = []
        watch = asyncio.ensure_future(_collect(receive, messages))
        opened = asyncio.ensure_future(self._open.wait())
        try:
            async with asyncio.timeout(self._seconds):
                await asyncio.wait((watch, opened), return_when=asyncio.FIRST_COMPLETED)
                if not opened.done() and not watch.result():
                    await opened
            if watch.done() and watch.result():
                raise ClientDisconnect
            if self._refusal is not None:
                raise self._refusal
        except TimeoutError:
            late = "the engine was being replaced for longer than a request waits"
            raise unavailable(late, self._retry()) from None
        finally:
            self._board.held -= 1
            opened.cancel()
            watch.cancel()
            await asyncio.gather(opened, watch, return_exceptions=True)
        return replayed(messages, receive)

    def _retry(self) -> int:
        return max(1, min(MOST_RETRY_SECONDS, math.ceil(self._seconds)))


async def _collect(receive: Receive, messages: list[Message]) -> bool:
    """Reads what the client sends; True = it left."""
    size = 0
    while size <= KEPT_BYTES:
        message = await receive()
        if message["type"] == "http.disconnect":
            return True
        messages.append(message)
        size += len(message.get("body", b""))
    return False


def replayed(messages: list[Message], receive: Receive) -> Receive:
    """Those first, then what `receive` brings."""
    kept = iter(messages)

    async def replay() -> Message:
        with contextlib.suppress(StopIteration):
            return next(kept)
        return await receive()

    return replay
