"""Where the requests of one state run, and where they go on when their engine ends."""

import asyncio
from collections.abc import Awaitable

from appliance.engine.client import EngineDied
from appliance.engine.protocol import Request
from appliance.server.errors import unavailable
from appliance.server.metrics import Numbers
from appliance.server.pool import Engines, Pool, Replica, weights
from appliance.server.shared import Shared

RESUME_SECONDS = 60.0
"""How long a request that was carried waits for an engine once nothing is held."""


class Road:
    def __init__(self, engines: Engines, shared: Shared, model: str) -> None:
        self._engines = engines
        self._shared = shared
        self._model = model

    @property
    def pool(self) -> Pool:
        return self._engines.pool

    def numbers(self, replica: Replica) -> Numbers:
        return self._shared.metrics.numbers(self._model, self._engines.label(replica))

    async def first(self, request: Request, cut: asyncio.Future[str]) -> Replica:
        """Raises EngineDied."""
        if not self._engines.open and self._engines.lead_on:
            return await self._current(request, cut)
        return self._engines.choose(request)

    def leads_on(self, died: Replica, fingerprint: str) -> bool:
        """Whether what ran on `died`, with weights of that fingerprint, can go on."""
        return died.carries or any(replica is not died and weights(replica) == fingerprint for replica in self._known())

    async def next(self, request: Request, left: Replica | None, fingerprint: str, cut: asyncio.Future[str]) -> Replica:
        """The same weights on another engine now, or after a carry the engines that serve next.

        Raises EngineDied, ApiError 503 once it was cut.
        """
        known = [r for r in self._known() if r is not left and r.takes(request)]
        same = [r for r in known if weights(r) == fingerprint]
        if same:
            return min(same, key=lambda replica: replica.load(self.pool.servers))
        return await self._current(request, cut)

    def _known(self) -> set[Replica]:
        current = self._shared.engines
        return {*self._engines.open, *self._engines.deputy, *(current.open if current else ())}

    async def _current(self, request: Request, cut: asyncio.Future[str]) -> Replica:
        await _unless(cut, self._shared.gate.opened())
        engines = self._shared.engines
        if engines is None:
            raise EngineDied("the engine that took over cannot go on with it")
        if not engines.open:
            ups = [asyncio.ensure_future(r.client.wait_ready()) for r in engines.replicas if not r.retired]
            try:
                if ups:
                    waiting = asyncio.wait(ups, timeout=RESUME_SECONDS, return_when=asyncio.FIRST_COMPLETED)
                    await _unless(cut, waiting)
            finally:
                for up in ups:
                    up.cancel()
                await asyncio.gather(*ups, return_exceptions=True)
        return engines.choose(request)


async def _unless(cut: asyncio.Future[str], waiting: Awaitable[object]) -> None:
    task = asyncio.ensure_future(waiting)
    try:
        await asyncio.wait((task, cut), return_when=asyncio.FIRST_COMPLETED)
        if cut.done():
            raise unavailable(cut.result(), retry_after=5)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
