"""Watches that the engines' steps move while requests wait."""

import asyncio
import time

from appliance.server.gate import Gate
from appliance.server.pool import Engines, Replica

POLL_SECONDS = 0.1
STALL_SECONDS = 600.0
"""No step has ended for this long although requests wait: the engine hangs, and nobody has replaced it, as the
supervisor does first (supervise/stall.py). A saturated engine still ends steps."""


class Pulse:
    def __init__(self, engines: Engines, gate: Gate) -> None:
        self._engines = engines
        self._gate = gate
        self._steps: dict[Replica, int | None] = {}
        self._moved: dict[Replica, float] = {}
        self._was_up = False

    def verdict(self) -> tuple[bool, str]:
        """(alive, why). Not alive = was up and is gone, or hangs; a first boot and a replacement are alive."""
        if self._engines.ready is None:
            if self._gate.closed:
                return True, "the engine is being replaced"
            if self._was_up:
                return False, f"the engine died and is not back: {self._engines.reason}"
            return True, "the engine is booting"
        now = time.monotonic()
        stalled = max((now - self._moved.get(replica, now) for replica in self._engines.open), default=0.0)
        if stalled > STALL_SECONDS:
            return False, f"requests wait and the engine has ended no step for {stalled:.0f} s"
        return True, "the engine runs"

    async def watch(self) -> None:
        while True:
            self.look()
            await asyncio.sleep(POLL_SECONDS)

    def look(self) -> None:
        now = time.monotonic()
        self._was_up = self._was_up or self._engines.ready is not None
        for replica in self._engines.replicas:
            stats, before = replica.client.stats, self._steps.get(replica)
            steps = stats.steps if stats else None
            self._steps[replica] = steps
            if steps != before or not replica.unfinished or not replica.open:
                self._moved[replica] = now
