"""One running set of engine processes built from one plan. A reload that needs new engines makes generation n + 1."""

import asyncio
import dataclasses
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

from appliance.engine.client import EngineClient
from appliance.engine.streams import EngineDied
from appliance.plan import Plan
from appliance.supervise.backends import Replica, backend
from appliance.supervise.crew import ONCE, Crew, Fell
from appliance.supervise.keeper import Keeper, Listener
from appliance.supervise.restart import RestartPolicy

HELLO_SECONDS = 20.0
"""A ready engine answers a greeting within a step."""
RECONFIGURE_SECONDS = 60.0
SILENT = "the engine runs and gives no answer"
GRACE_SECONDS = 5.0
"""An engine without requests ends at once."""
BOOT_FACTOR, LEAST_BOOT_SECONDS = 20.0, 300.0
"""How much longer than its plan's estimate a boot may take until it counts as hanging, and the least that is given."""


class NotOneModel(Exception):  # noqa: N818 - a fact about replicas
    """Replicas of one generation hold different weights."""


@dataclass(eq=False)
class Generation:
    number: int
    plan: Plan
    replicas: tuple[Replica, ...]
    keepers: tuple[Keeper, ...]
    fingerprint: str = ""
    """Of the weights every replica holds; empty where the backend does not tell."""
    seconds: float = 0.0
    """Its boot took."""

    @property
    def addresses(self) -> tuple[str, ...]:
        return tuple(replica.address for replica in self.replicas)


@dataclass
class Engines:
    """Makes generations and ends them."""

    crew: Crew
    listener: Listener
    runtime: Path
    module: str | None = None
    """Stands in for the children's module."""
    newest: int = field(default=0)
    """Number of the last generation that was made."""

    def make(self, plan: Plan, number: int | None = None, policy: RestartPolicy = ONCE) -> Generation:
        """Started, not yet there. Its sockets are its own: generations can stand side by side.

        `number` given = one that was there before. Unless `policy` says otherwise its first death is its end.
        """
        if number is None:
            self.newest += 1
            number = self.newest
        replicas = backend(plan.server.backend).replicas(plan, number, self.runtime)
        if self.module is not None:
            replicas = tuple(
                dataclasses.replace(replica, role=dataclasses.replace(replica.role, module=self.module))
                for replica in replicas
            )
        keepers = tuple(Keeper(replica.role, self.listener, policy) for replica in replicas)
        for keeper in keepers:
            self.crew.start(keeper)
        return Generation(number, plan, replicas, keepers)

    async def ready(self, generation: Generation, patient: bool = False) -> None:
        """Raises Fell when a replica does not come up, NotOneModel when they do not hold the same weights.

        `patient`: there is nothing else to serve with, so however long it takes.
        """
        begun = time.monotonic()
        seconds = max(LEAST_BOOT_SECONDS, BOOT_FACTOR * generation.plan.boot_seconds)
        await self.crew.ready(generation.keepers, None if patient else seconds)
        generation.seconds = time.monotonic() - begun
        if generation.plan.server.backend == "native":
            found = await asyncio.gather(*(_fingerprint(address) for address in generation.addresses))
            if len(set(found)) > 1:
                raise NotOneModel(f"the replicas hold different weights: {', '.join(sorted(set(found)))}")
            generation.fingerprint = found[0]

    async def stop(self, generation: Generation) -> None:
        await self.crew.stop(generation.keepers, GRACE_SECONDS)

    async def reconfigure(self, generation: Generation, plan: Plan, settings: Mapping[str, bool | int | str]) -> None:
        """Every replica takes them, or comes back from a death with them. Raises ValueError when one refuses: the
        generation is then as before. Fell when a dead one stays away."""
        before = generation.plan
        changed: list[str] = []
        self._adopt(generation, plan)
        try:
            for keeper, address in zip(generation.keepers, generation.addresses, strict=True):
                await self._tell(keeper, address, settings)
                changed.append(address)
        except Exception:
            old = dataclasses.asdict(before.engine) if before.engine else {}
            self._adopt(generation, before)
            for keeper, address in zip(generation.keepers, generation.addresses, strict=True):
                if address in changed:
                    await self._tell(keeper, address, {name: old[name] for name in settings})
            raise

    async def _tell(self, keeper: Keeper, address: str, settings: Mapping[str, bool | int | str]) -> None:
        await self.crew.ready([keeper], HELLO_SECONDS + keeper.policy.ceiling)
        starts = keeper.starts
        async with AsyncExitStack() as stack:
            client = await stack.enter_async_context(EngineClient(address))
            try:
                await client.wait_ready(HELLO_SECONDS)
                await client.reconfigure(settings, RECONFIGURE_SECONDS)
            except (EngineDied, TimeoutError) as error:
                if keeper.starts == starts and keeper.ready.is_set():
                    raise Fell(keeper.role, error, str(error) or SILENT) from error
                await self.crew.ready([keeper], LEAST_BOOT_SECONDS)

    def _adopt(self, generation: Generation, plan: Plan) -> None:
        """What its processes start with from now on."""
        made = backend(plan.server.backend).replicas(plan, generation.number, self.runtime)
        for keeper, replica in zip(generation.keepers, made, strict=True):
            keeper.role = dataclasses.replace(keeper.role, configuration=replica.role.configuration)
        generation.plan = plan


async def _fingerprint(address: str) -> str:
    async with EngineClient(address) as client:
        try:
            return (await client.wait_ready(HELLO_SECONDS)).weights_fingerprint
        except TimeoutError as error:
            raise TimeoutError(SILENT) from error
