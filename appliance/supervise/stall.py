"""Finds an engine that hangs: its process lives, but its loop does not turn, or ends no step although it has work."""

import asyncio
import contextlib
import time

from appliance.engine.client import EngineClient
from appliance.engine.streams import EngineDied
from appliance.plan import Plan
from appliance.supervise.keeper import Keeper
from appliance.supervise.state import State

LOOK_SECONDS = 5.0
LEAST_SECONDS = 300.0
"""Far above any step of a small model: a machine that swaps, or is paused for a moment, is no hang."""
SLOWEST_OPERATIONS_PER_SECOND = 1e10
"""What a prefill reaches on two old cores. A full step takes two operations for each parameter and token."""


def patience(plan: Plan) -> float:
    """Seconds without a sign of life after which an engine of this plan hangs: no step can take that long."""
    tokens = plan.engine.max_batch_tokens if plan.engine else 0
    return max(LEAST_SECONDS, 2.0 * (plan.model.parameters or 0) * tokens / SLOWEST_OPERATIONS_PER_SECOND)


class Vigil:
    """Over one process of a native engine, through its restarts. `seconds` of silence are its end."""

    def __init__(self, keeper: Keeper, address: str, seconds: float) -> None:
        self.seconds = seconds
        self._keeper, self._address = keeper, address

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            await self._keeper.ready.wait()
            async with EngineClient(self._address) as client:
                await self._watch(client)

    async def _watch(self, client: EngineClient) -> None:
        """Until this process ends, or is killed here."""
        keeper, starts = self._keeper, self._keeper.starts
        sign, since, greeted = _sign(client), time.monotonic(), False
        while keeper.starts == starts and keeper.state is State.READY:
            await asyncio.sleep(min(LOOK_SECONDS, self.seconds / 4))
            now = time.monotonic()
            if _sign(client) != sign:
                sign, since, greeted = _sign(client), now, False
            elif now - since > self.seconds:
                keeper.kill(f"gave no sign of life for {now - since:.0f} s and was killed")
                sign, since = _sign(client), now
            elif not greeted:
                with contextlib.suppress(EngineDied):
                    client.greet()
                    greeted = True


def _sign(client: EngineClient) -> tuple[bool, int]:
    """Changes while it lives: with every step while it has work, else with every answer."""
    stats = client.stats
    busy = stats is not None and stats.running + stats.waiting > 0
    return busy, stats.steps if stats is not None and busy else client.heard
