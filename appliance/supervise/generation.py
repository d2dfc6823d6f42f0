"""One running set of engine processes built from one plan. A reload that needs new engines makes generation n + 1."""

import asyncio
import dataclasses
import time
from collections.abc import Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

from appliance.engine.client import EngineClient
from appliance.engine.config import RECONFIGURABLE
from appliance.engine.streams import EngineDied
from appliance.plan import Plan
from appliance.supervise.backends import Replica, backend
from appliance.supervise.crew import ONCE, Crew, Fell
from appliance.supervise.keeper import Keeper, Listener
from appliance.supervise.restart import RestartPolicy
from appliance.supervise.stall import Vigil, patience
from appliance.supervise.state import State

HELLO_SECONDS = 20.0
"""A ready engine answers a greeting within a step."""
RECONFIGURE_SECONDS = 60.0
REMIND_SECONDS = 5.0
"""Between two looks at whether an engine that gave no answer still is the same process."""
SILENT = "the engine runs and gives no answer"
GRACE_SECONDS = 5.0
"""An engine without requests ends at once."""
BOOT_FACTOR, LEAST_BOOT_SECONDS = 20.0, 300.0
"""How much longer than its plan's estimate a boot may take until it counts as hanging, and the least that is given."""


Settings = Mapping[str, bool | int | str]


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
    stall_seconds: float | None = None
    """Silence after which an engine counts as hanging, instead of what its plan says."""
    alive: list[Generation] = field(default_factory=list)
    """Made and not stopped, oldest first: what serves, what is about to, what finishes its requests."""
    _vigils: dict[Keeper, tuple[Vigil, asyncio.Task[None]]] = field(default_factory=dict)
    _reminding: dict[Keeper, asyncio.Task[None]] = field(default_factory=dict)
    """Those that may yet take what has been taken back."""

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
        if plan.server.backend == "native":
            for keeper, replica in zip(keepers, replicas, strict=True):
                vigil = Vigil(keeper, replica.address, self.stall_seconds or patience(plan))
                self._vigils[keeper] = vigil, asyncio.create_task(vigil.run())
        made = Generation(number, plan, replicas, keepers)
        self.alive.append(made)
        return made

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
        for keeper in generation.keepers:
            _, vigil = self._vigils.pop(keeper, (None, None))
            for task in (vigil, self._reminding.pop(keeper, None)):
                if task is not None:
                    task.cancel()
                    await asyncio.gather(task, return_exceptions=True)
        if generation in self.alive:
            self.alive.remove(generation)

    async def reconfigure(self, generation: Generation, plan: Plan, settings: Settings) -> None:
        """Every replica takes them, or comes back from a death with them. Raises ValueError when one refuses: the
        generation is then as before. Fell when a dead one stays away, or one gives no answer."""
        before, replicas = generation.plan, list(zip(generation.keepers, generation.addresses, strict=True))
        told = 0
        self._adopt(generation, plan)
        try:
            for keeper, address in replicas:
                await self._tell(keeper, address, settings)
                told += 1
        except Exception as error:
            self._adopt(generation, before)
            if not isinstance(error, ValueError):
                self._remind(generation, *replicas[told])
            await self._take_back(generation, replicas[:told], settings)
            raise

    async def take_back(self, generation: Generation, plan: Plan, settings: Iterable[str]) -> None:
        """Of these settings every replica holds the ones of `plan` again: one that gives no answer as soon as it does,
        or when it has been replaced."""
        self._adopt(generation, plan)
        replicas = list(zip(generation.keepers, generation.addresses, strict=True))
        await self._take_back(generation, replicas, settings)

    async def _take_back(
        self, generation: Generation, replicas: Iterable[tuple[Keeper, str]], settings: Iterable[str]
    ) -> None:
        held = {name: getattr(generation.plan.engine, name) for name in settings}
        for keeper, address in replicas:
            try:
                await self._tell(keeper, address, held)
            except (ValueError, Fell):
                self._remind(generation, keeper, address)

    def _remind(self, generation: Generation, keeper: Keeper, address: str) -> None:
        if keeper not in self._reminding:
            task = self._reminding[keeper] = asyncio.create_task(self._told_later(generation, keeper, address))
            task.add_done_callback(lambda _: self._reminding.pop(keeper, None))

    async def _told_later(self, generation: Generation, keeper: Keeper, address: str) -> None:
        """What gave no answer may yet take what it was told: once it speaks, it hears what holds now."""
        starts = keeper.starts
        async with EngineClient(address) as client:
            while keeper.starts == starts and keeper.state is State.READY:
                try:
                    await client.wait_ready(REMIND_SECONDS)
                    held = {name: getattr(generation.plan.engine, name) for name in RECONFIGURABLE}
                    await client.reconfigure(held)
                except (EngineDied, TimeoutError):
                    continue
                except ValueError as error:
                    keeper.kill(f"does not take back what it was told ({error}) and was killed")
                break

    async def _tell(self, keeper: Keeper, address: str, settings: Settings) -> None:
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
        for keeper in generation.keepers:
            if keeper in self._vigils:
                self._vigils[keeper][0].seconds = self.stall_seconds or patience(plan)


async def _fingerprint(address: str) -> str:
    async with EngineClient(address) as client:
        try:
            return (await client.wait_ready(HELLO_SECONDS)).weights_fingerprint
        except TimeoutError as error:
            raise TimeoutError(SILENT) from error
