"""Generations that only finish what they have: retired in the background, waited for before another one is made."""

import asyncio
from dataclasses import dataclass, field

from appliance.supervise.crew import ONCE, Fell
from appliance.supervise.generation import Generation
from appliance.supervise.parts import Parts
from appliance.supervise.server_control import ServerRefused


@dataclass
class Retiring:
    parts: Parts
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def begin(self, generation: Generation, seconds: float, carry: bool) -> None:
        """Its requests have `seconds`; it is gone a moment later."""
        self.parts.crew.spare(generation.keepers)
        for keeper in generation.keepers:
            keeper.policy = ONCE
        task = asyncio.create_task(self._retire(generation, seconds, carry))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def done(self) -> None:
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    def cancel(self) -> None:
        for task in self._tasks:
            task.cancel()

    async def _retire(self, generation: Generation, seconds: float, carry: bool) -> None:
        report = self.parts.report
        begun = asyncio.get_running_loop().time()
        try:
            answer = await self.parts.servers.retire(generation.addresses, seconds, carry)
            told = f"{answer.finished} finished, {answer.carried} carried over, {answer.cut} cut"
        except (ServerRefused, Fell) as error:
            told = f"ended without an answer of the servers: {error}"
        await self.parts.front.left()
        await self.parts.engines.stop(generation)
        report.stage(f"generation {generation.number} ended", asyncio.get_running_loop().time() - begun, told)
