"""uvicorn on the inherited socket, with a drain: SIGTERM refuses what is new, finishes what runs, then exits 0."""

import asyncio
import contextlib
import logging
import signal
import socket
from collections.abc import Callable, Iterator

import uvicorn

from appliance.server.context import Context
from appliance.server.http import LimitedHttp

logger = logging.getLogger("appliance.server")

POLL_SECONDS = 0.02
CUT_SECONDS = 2
"""What is cut off after the drain time gets this long to send its last bytes."""


class DrainingServer(uvicorn.Server):
    def __init__(self, app: Callable[..., object], context: Context, accepting: Callable[[], None]) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                loop="uvloop",
                http=LimitedHttp,
                ws="none",
                lifespan="on",
                log_config=None,
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=CUT_SECONDS,
            )
        )
        self._context = context
        self._accepting = accepting
        self._drain: asyncio.Task[None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._accepting()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._begin_drain)
        yield

    def _begin_drain(self) -> None:
        if self._drain is None:
            self._context.draining = True
            self._drain = asyncio.create_task(self._finish())

    async def _finish(self) -> None:
        seconds = self._context.config.drain_seconds
        logger.info("draining: %d requests have up to %g s", self._context.active, seconds)
        await self._idle(seconds)
        if self._context.active:
            logger.warning("cutting off %d requests after %g s", self._context.active, seconds)
            for generation in list(self._context.generations):
                generation.cut()
            await self._idle(CUT_SECONDS)
        self.should_exit = True

    async def _idle(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._context.active:
                    await asyncio.sleep(POLL_SECONDS)
