"""Watches that the engine's steps move while requests wait."""

import asyncio
import time

from appliance.engine.client import EngineClient
from appliance.engine.protocol import Stats
from appliance.server.admission import Admission

POLL_SECONDS = 0.1
STALL_SECONDS = 120.0
"""No step has ended for this long although requests wait: the engine hangs. A saturated engine still ends steps."""


class Pulse:
    def __init__(self, engine: EngineClient, admission: Admission) -> None:
        self._engine = engine
        self._admission = admission
        self._seen: Stats | None = None
        self._moved = time.monotonic()
        self._was_up = False

    def verdict(self) -> tuple[bool, str]:
        """(alive, why). Not alive = was up and is gone, or hangs; a first boot is alive."""
        if self._engine.ready is None:
            if self._was_up:
                return False, f"the engine died and is not back: {self._engine.reason}"
            return True, "the engine is booting"
        stalled = time.monotonic() - self._moved
        if stalled > STALL_SECONDS:
            return False, f"requests wait and the engine has ended no step for {stalled:.0f} s"
        return True, "the engine runs"

    async def watch(self) -> None:
        await self._engine.wait_ready()
        self._was_up = True
        while True:
            self.look()
            await asyncio.sleep(POLL_SECONDS)

    def look(self) -> None:
        stats, before = self._engine.stats, self._seen
        self._seen = stats
        steps_moved = stats is not None and (before is None or stats.steps != before.steps)
        if steps_moved or not self._admission.requests or self._engine.ready is None:
            self._moved = time.monotonic()
