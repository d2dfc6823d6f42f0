"""Engines that end: their requests finish in time, or go on elsewhere, or are cut."""

import asyncio
import time
from dataclasses import dataclass

from appliance.server.succession import Succession

POLL_SECONDS = 0.01
CUT = "the engine was replaced while it answered"


@dataclass(frozen=True)
class Ends:
    """How many requests ended which way."""

    finished: int
    carried: int
    cut: int


async def retire(succession: Succession, addresses: frozenset[str], seconds: float, carry: bool) -> Ends:
    """Returns when nothing is left on these engines."""

    def left() -> int:
        return sum(state.left_on(addresses) for state in succession.states)

    succession.shared.pool.mark(addresses, retired=False, carries=carry)
    begun, most = time.monotonic(), left()
    while (now := left()) and time.monotonic() - begun < seconds:
        most = max(most, now)
        await asyncio.sleep(POLL_SECONDS)
    # from here on nothing new can come to them; what has come meanwhile is moved or cut too
    succession.shared.pool.mark(addresses, retired=True, carries=carry)
    carried = sum(state.carry(addresses) for state in succession.states) if carry else 0
    cut = sum(state.cut(addresses, CUT) for state in succession.states)
    if succession.shared.engines is not None:
        succession.shared.engines.dismiss(addresses)
    return Ends(max(0, most - carried - cut), carried, cut)
