"""One step from the running state to a candidate: what every strategy has in its hands."""

import contextlib
import dataclasses
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from appliance.server.config import ReloadFacts, ServerConfig
from appliance.supervise.crew import Crew
from appliance.supervise.decide import Decision
from appliance.supervise.failed import STEPS, Lost
from appliance.supervise.front import Front
from appliance.supervise.generation import Engines, Generation
from appliance.supervise.history_records import Proof
from appliance.supervise.phases import Phases, Step
from appliance.supervise.restart import RestartPolicy
from appliance.supervise.road import Candidate
from appliance.supervise.server_group import ServerGroup
from appliance.supervise.state import State
from appliance.supervise.unless import unless

PROOF_SECONDS = 120.0
"""What a candidate's own requests may take; a large model on a slow machine needs some."""
RETURN_SECONDS = 300.0
"""For an old engine that died as well to be there again."""
LEAST_HOLD_SECONDS, HOLD_MARGIN_SECONDS = 60.0, 20.0
"""A request is not kept waiting for ever, but longer than a boot, and a second one if the first fails."""
SETTLE_SECONDS = 10.0
"""A new engine that dies so soon takes its generation with it."""


@dataclass(frozen=True)
class Running:
    """The state that serves."""

    candidate: Candidate
    generation: Generation
    revision: int


@dataclass(frozen=True)
class Made:
    """What came out of a step that succeeded."""

    generation: Generation
    proof: Proof
    retiring: Generation | None = None
    """Still finishes its requests; to be retired, then stopped."""
    carry: bool = False
    """Those requests may go on on the new generation."""


@dataclass
class Transition:
    running: Running
    candidate: Candidate
    decision: Decision
    revision: int
    engines: Engines
    servers: ServerGroup
    front: Front
    crew: Crew
    phases: Phases
    facts: ReloadFacts
    policy: RestartPolicy
    overtaken: Callable[[], Awaitable[None]]
    """Returns once a newer proposal makes this one pointless."""
    settle_seconds: float = SETTLE_SECONDS
    switched: bool = False

    @property
    def old(self) -> Generation:
        return self.running.generation

    @property
    def drain_seconds(self) -> float:
        return self.candidate.plan.server.drain_seconds

    def phase(self, name: str) -> AbstractContextManager[Step]:
        return self.phases.phase(name)

    async def boot(self) -> Generation:
        """Raises Fell, NotOneModel or Overtaken, with its processes gone."""
        generation = self.engines.make(self.candidate.plan)
        with self.phase(f"boot generation {generation.number}"):
            try:
                await unless(self.overtaken(), self.engines.ready(generation))
            except Exception:
                await self.engines.stop(generation)
                raise
        return generation

    async def prove(self, generation: Generation, asking: bool = True) -> Proof:
        """Every server builds the new state and, where `asking`, answers real requests with it on `generation`."""
        config = server_config(self.candidate, generation, self.revision, self.facts)
        with self.phase("proof") as step:
            asking = asking and bool(self.candidate.plan.value("reload.probe"))
            proof = await unless(self.overtaken(), self.servers.prepare(config, asking, PROOF_SECONDS))
            step.detail = ", ".join(f"{name}: {found}" for name, found in proof.items())
        return proof

    @property
    def longest_hold(self) -> float:
        """Seconds that a request may wait for whichever engine comes to serve."""
        boots = 2 * max(self.old.seconds, self.old.plan.boot_seconds) + self.candidate.plan.boot_seconds
        return max(LEAST_HOLD_SECONDS, 2 * boots + HOLD_MARGIN_SECONDS)

    async def stand_by(self, carry: bool) -> None:
        """Should the new engines die, what is asked of them waits for the old ones; with `carry` it goes on there."""
        await self.servers.stand_by(self.candidate.plan.server.queue_requests, self.longest_hold, carry)

    async def switch(self) -> None:
        """From here on the new state serves, and listens where it wants to."""
        with self.phase("switch"):
            self.switched = True
            await self.servers.switch()
        if self.decision.listener:
            with self.phase("listen") as step:
                step.detail = await self.front.enter(self.servers)

    async def settle(self, generation: Generation) -> None:
        with self.phase("settle"):
            await self.crew.stays(generation.keepers, self.settle_seconds)
        self.crew.rely(generation.keepers, self.policy)
        with contextlib.suppress(*STEPS):
            await self.servers.release()

    def serves(self, generation: Generation) -> bool:
        """Some of it does."""
        return any(keeper.state is State.READY for keeper in generation.keepers)

    async def restore(self, generation: Generation) -> None:
        """The old state serves again on `generation`, which is the old one or has its addresses. Raises Lost."""
        old = server_config(self.running.candidate, self.old, self.running.revision, self.facts)
        try:
            await self.front.stay(self.servers)
            if not self.switched:
                await self.servers.discard()
                self.servers.adopt(old)
            if self.switched or generation is not self.old:
                with self.phase("back to the old state"):
                    await self.crew.ready(generation.keepers, RETURN_SECONDS)
                    await self.servers.prepare(old, False, PROOF_SECONDS)
                    await self.servers.switch()
        except STEPS as error:
            raise Lost(str(error)) from error
        with contextlib.suppress(*STEPS):
            await self.servers.release()
        self.switched = False


def server_config(candidate: Candidate, generation: Generation, revision: int, facts: ReloadFacts) -> ServerConfig:
    return dataclasses.replace(
        candidate.plan.server,
        engine_addresses=generation.addresses,
        generation=generation.number,
        revision=revision,
        reload=facts,
    )
