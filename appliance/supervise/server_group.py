"""The API servers of one appliance as one: every command goes to all, and to those that come back after a death.

A server that dies starts again from the role its keeper holds: the current configuration, and the hold that is on.
"""

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field

import msgspec
from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_attempt

from appliance.server.config import ReloadFacts, ServerConfig
from appliance.server.control import (
    ENCODER,
    Answer,
    Command,
    Discard,
    Hold,
    Prepare,
    Release,
    Retire,
    Standby,
    Switch,
    Tell,
)
from appliance.supervise.crew import Crew
from appliance.supervise.history_records import Proof
from appliance.supervise.keeper import Keeper
from appliance.supervise.server_control import ServerControl, ServerGone

ANSWER_SECONDS = 20.0
"""A command that only changes a server's mind."""
GRACE_SECONDS = 15.0
"""Past the time that a command itself allows."""
ATTEMPTS = 4
"""Processes of one server that may die under one command."""
RESTART_SECONDS = 60.0

Act = Callable[[Keeper], Awaitable[Answer]]


@dataclass
class ServerGroup:
    crew: Crew
    keepers: list[Keeper] = field(default_factory=list)
    config: ServerConfig | None = None
    """What they run with."""
    held: Hold | None = None
    standing_by: Standby | None = None
    _prepared: dict[Keeper, int] = field(default_factory=dict)
    _candidate: Prepare | None = None

    def greeting(self) -> bytes:
        """What a server started now hears first."""
        return b"".join(ENCODER.encode(command) + b"\n" for command in (self.standing_by, self.held) if command)

    async def prepare(self, config: ServerConfig, probe: bool, seconds: float) -> Proof:
        """The first server's proof. ServerRefused with the reason of whoever refuses: nothing has changed then."""
        self._candidate = Prepare(reference=0, config=config, probe=probe, seconds=seconds)
        self._prepared.clear()
        try:
            answers = await self._all(self._prepare)
        except BaseException:
            await self.discard()
            raise
        return answers[0].proof if answers else {}

    async def switch(self) -> None:
        """The candidate takes over on every server, also on one that dies and comes back meanwhile."""
        assert self._candidate is not None, "nothing is prepared"
        self.adopt(self._candidate.config)
        self.held = None
        await self._all(self._switch)
        self._candidate = None

    async def discard(self) -> None:
        self._candidate = None
        self._prepared.clear()
        await self._tell(lambda number: Discard(reference=number))

    async def hold(self, requests: int, seconds: float) -> None:
        """Also for servers that come back after a death."""
        self.held = Hold(reference=0, requests=requests, seconds=seconds)
        await self._tell(lambda number: Hold(reference=number, requests=requests, seconds=seconds))

    async def stand_by(self, requests: int, seconds: float, carry: bool) -> None:
        """What comes to engines that have died waits, from the switch that follows until a release."""
        self.standing_by = Standby(reference=0, requests=requests, seconds=seconds, carry=carry)
        await self._tell(lambda number: Standby(reference=number, requests=requests, seconds=seconds, carry=carry))

    async def release(self) -> None:
        self.held = self.standing_by = None
        await self._tell(lambda number: Release(reference=number))

    async def retire(self, addresses: tuple[str, ...], seconds: float, carry: bool) -> Answer:
        """The sum of all servers' answers. A server that dies under it has nothing left on those addresses."""

        def command(number: int) -> Command:
            return Retire(reference=number, addresses=addresses, seconds=seconds, carry=carry)

        answers = await self._tell(command, seconds + GRACE_SECONDS)
        return Answer(
            reference=0,
            finished=sum(answer.finished for answer in answers),
            carried=sum(answer.carried for answer in answers),
            cut=sum(answer.cut for answer in answers),
        )

    async def tell(self, facts: ReloadFacts) -> None:
        assert self.config is not None, "no server runs"
        self.adopt(dataclasses.replace(self.config, reload=facts))
        await self._tell(lambda number: Tell(reference=number, reload=facts))

    def adopt(self, config: ServerConfig) -> None:
        """What servers start with from now on."""
        self.config = config
        for keeper in self.keepers:
            keeper.role = dataclasses.replace(keeper.role, configuration=msgspec.json.encode(config))

    async def _prepare(self, keeper: Keeper) -> Answer:
        candidate = self._candidate
        assert candidate is not None
        starts = keeper.starts
        answer = await control(keeper).ask(
            lambda number: msgspec.structs.replace(candidate, reference=number), candidate.seconds + GRACE_SECONDS
        )
        self._prepared[keeper] = starts
        return answer

    async def _switch(self, keeper: Keeper) -> Answer:
        """A process that came after the candidate was prepared may hold the old configuration: it prepares again."""
        if self._prepared.get(keeper) != keeper.starts:
            await self._prepare(keeper)
        return await control(keeper).ask(lambda number: Switch(reference=number), ANSWER_SECONDS)

    async def _all(self, act: Act) -> list[Answer]:
        return await _together(self._persist(keeper, act) for keeper in self.keepers)

    async def _persist(self, keeper: Keeper, act: Act) -> Answer:
        """Through deaths of the server's process."""
        async for attempt in AsyncRetrying(
            retry=retry_if_exception_type(ServerGone), stop=stop_after_attempt(ATTEMPTS), reraise=True
        ):
            with attempt:
                await self.crew.ready([keeper], RESTART_SECONDS)
                return await act(keeper)
        raise AssertionError("every attempt returns or raises")

    async def _tell(self, make: Callable[[int], Command], seconds: float = ANSWER_SECONDS) -> list[Answer]:
        """A process that dies has nothing to be told: its successor starts as `keeper.role` and `greeting` say."""

        async def tell(keeper: Keeper) -> Answer:
            await self.crew.ready([keeper], RESTART_SECONDS)
            try:
                return await control(keeper).ask(make, seconds)
            except ServerGone:
                return Answer(reference=0)

        return await _together(tell(keeper) for keeper in self.keepers)


def control(keeper: Keeper) -> ServerControl:
    assert keeper.control is not None, "a server's role talks"
    return keeper.control


async def _together(asked: Iterable[Awaitable[Answer]]) -> list[Answer]:
    """All of them are heard before the first error is raised: none goes on behind the back of what follows."""
    answers = await asyncio.gather(*asked, return_exceptions=True)
    for answer in answers:
        if isinstance(answer, BaseException):
            raise answer
    return [answer for answer in answers if not isinstance(answer, BaseException)]
