"""Accepting on a socket that several server processes share: whoever has the fewest connections takes the next one."""

import asyncio
import contextlib
import logging
import socket
from collections.abc import Callable

from appliance.server.board import NOT_ACCEPTING, Board
from appliance.server.http import LimitedHttp

logger = logging.getLogger("appliance.server")

COURTESY_SECONDS, COURTESIES = 0.001, 5
"""How long, and how often for one connection, a busier process leaves it to the others."""
EXHAUSTED_SECONDS = 1.0
"""Pause after the system had no descriptor or memory for a connection."""


class Acceptor:
    """Between `start` and `stop`. Losing a connection to another process costs nothing."""

    def __init__(self, listener: socket.socket, board: Board, make: Callable[[], LimitedHttp]) -> None:
        self._listener = listener
        self._board = board
        self._make = make
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._board.connections = 0
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._board.connections = NOT_ACCEPTING

    async def _run(self) -> None:
        while True:
            await _readable(self._listener)
            for _ in range(COURTESIES):
                if self._board.connections <= self._board.fewest_connections:
                    break
                await asyncio.sleep(COURTESY_SECONDS)
            try:
                connection, _ = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                continue
            except OSError as error:
                logger.error("no connection can be taken for %g s: %s", EXHAUSTED_SECONDS, error)
                await asyncio.sleep(EXHAUSTED_SECONDS)
                continue
            connection.setblocking(False)
            with contextlib.suppress(OSError):
                await asyncio.get_running_loop().connect_accepted_socket(self._protocol, connection)

    def _protocol(self) -> LimitedHttp:
        protocol = self._make()
        protocol.count = self._count
        return protocol

    def _count(self, change: int) -> None:
        self._board.connections += change


async def _readable(listener: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    ready = loop.create_future()

    def note() -> None:
        if not ready.done():
            ready.set_result(None)

    loop.add_reader(listener.fileno(), note)
    try:
        await ready
    finally:
        loop.remove_reader(listener.fileno())
