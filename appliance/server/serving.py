"""uvicorn on the inherited socket, with a drain: SIGTERM refuses what is new, finishes what runs, then exits 0."""

import asyncio
import contextlib
import logging
import math
import signal
import socket
from collections.abc import Callable, Iterator

import uvicorn

from appliance.server.accepting import Acceptor
from appliance.server.errors import unavailable
from appliance.server.front import Front
from appliance.server.http import LimitedHttp
from appliance.server.succession import Succession

logger = logging.getLogger("appliance.server")

POLL_SECONDS = 0.02
LINGER_SECONDS = 2.0
"""For what clients send over connections that are open when the server leaves."""
CUT_SECONDS = 2
"""What is cut off after the drain time gets this long to send its last bytes."""


class DrainingServer(uvicorn.Server):
    def __init__(self, succession: Succession, accepting: Callable[[], None]) -> None:
        super().__init__(
            uvicorn.Config(
                Front(succession),
                loop="uvloop",
                http=LimitedHttp,
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=CUT_SECONDS,
            )
        )
        self._succession = succession
        self._shared = succession.shared
        self._shared.leave = self._leave
        self._accepting = accepting
        self._drain: asyncio.Task[None] | None = None
        self._going: asyncio.Task[None] | None = None
        self._listeners: list[socket.socket] = []
        self._acceptors: list[Acceptor] = []

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        assert sockets is not None
        self._listeners = sockets
        if self._shared.board.servers == 1:
            await super().startup(sockets)
        else:
            await super().startup([])
            self._acceptors = [Acceptor(listener, self._shared.board, self._protocol) for listener in sockets]
            for acceptor in self._acceptors:
                acceptor.start()
        self._accepting()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for acceptor in self._acceptors:
            await acceptor.stop()
        await super().shutdown(sockets)

    def _protocol(self) -> LimitedHttp:
        return LimitedHttp(config=self.config, server_state=self.server_state, app_state=self.lifespan.state)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._begin_drain)
        yield

    def _leave(self, seconds: float) -> None:
        """It stops accepting, answers what comes over open connections for a moment, and then ends as uvicorn does."""
        logger.info("leaving: running requests have up to %g s", seconds)
        self.config.timeout_graceful_shutdown = math.ceil(seconds)
        self._shared.leaving = True
        self._going = asyncio.create_task(self._go())

    async def _go(self) -> None:
        kept = [listener.dup() for listener in self._listeners]
        for acceptor in self._acceptors:
            await acceptor.stop()
        for server in self.servers:
            server.close()
        for listener in self._listeners:
            listener.close()
        await asyncio.sleep(POLL_SECONDS)
        for connection in [connection for listener in kept for connection in last_of(listener)]:
            with contextlib.suppress(OSError):
                await asyncio.get_running_loop().connect_accepted_socket(self._protocol, connection)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LINGER_SECONDS):
                while self.server_state.connections:
                    await asyncio.sleep(POLL_SECONDS)
        self.should_exit = True

    def _begin_drain(self) -> None:
        if self._drain is None:
            self._shared.draining = True
            self._shared.gate.release(unavailable("the server is shutting down", retry_after=5))
            self._drain = asyncio.create_task(self._finish())

    async def _finish(self) -> None:
        seconds = self._succession.current.config.drain_seconds
        logger.info("draining: %d requests have up to %g s", self._shared.active, seconds)
        await self._idle(seconds)
        if self._shared.active:
            logger.warning("cutting off %d requests after %g s", self._shared.active, seconds)
            self._succession.cut("the server shut down while it answered")
            await self._idle(CUT_SECONDS)
        self.should_exit = True

    async def _idle(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._shared.active:
                    await asyncio.sleep(POLL_SECONDS)


def last_of(listener: socket.socket) -> list[socket.socket]:
    """Closes it, after it has given up all connections that wait there: the system would reset those."""
    connections = []
    with listener, contextlib.suppress(OSError):
        while True:
            connection, _ = listener.accept()
            connection.setblocking(False)
            connections.append(connection)
    return connections
