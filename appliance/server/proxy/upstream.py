"""The vLLM processes behind a state: which of them answer, and which has least to do."""

import asyncio
import logging
from collections import Counter
from collections.abc import Iterable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import httpx

from appliance.server.errors import unavailable
from appliance.vllm.transport import make_client

if TYPE_CHECKING:
    from appliance.server.proxy.passage import Passage

logger = logging.getLogger("appliance.server")

ANSWER_TIMEOUT = httpx.Timeout(None, connect=5.0)
"""A long prompt may take minutes to its first token; a process that is gone refuses at once."""
ASK_SECONDS = 5.0
POLL_UP_SECONDS, POLL_DOWN_SECONDS = 1.0, 0.1


class Upstream:
    """One vLLM. `running`: this server's requests on it."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.client = make_client(address, ANSWER_TIMEOUT)
        self.holders = 0
        self.running: set[Passage] = set()
        self.up = False
        self.boots = 0
        """How often it has come up; with `up` it says whether what was proven still holds."""
        self.adapters: Counter[str] = Counter()
        """How many states hold each of its adapters."""
        self.reason = "the engine is booting"
        self.settled = asyncio.Event()
        """Not set while its number of engines changes: for a moment it then answers 503 to everything."""
        self.settled.set()
        self.models: list[dict[str, Any]] = []
        """Its cards of /v1/models."""

    async def look(self) -> None:
        """Asks whether it serves; never raises for what it answers."""
        try:
            answer = await self.client.get("/health", timeout=ASK_SECONDS)
            if answer.status_code != 200:
                self.lost(f"vLLM says its engine is dead ({answer.status_code})")
                return
            if not self.up:
                self.models = (await self.client.get("/v1/models", timeout=ASK_SECONDS)).json()["data"]
                self.up, self.reason = True, ""
                self.boots += 1
        except httpx.TimeoutException:
            # busy is not dead: a compiling or saturated process answers late
            self.reason = self.reason or f"vLLM did not answer for {ASK_SECONDS:g} s"
        except httpx.HTTPError as error:
            self.lost(failure(error))
        except (ValueError, KeyError) as error:
            self.lost(f"vLLM answers nonsense: {error}")

    def lost(self, why: str) -> None:
        if self.up:
            logger.error("vLLM at %s is gone: %s", self.address, why)
            self.reason = f"vLLM died and is not back: {why}"
        self.up = False


def failure(error: httpx.HTTPError) -> str:
    """Why it does not answer, for people."""
    if isinstance(error, httpx.ConnectError):
        return "nothing listens on its socket"
    return str(error) or type(error).__name__


PINNED: ContextVar[Upstream | None] = ContextVar("PINNED", default=None)
"""Inside a proof: the one that is asked, and no other request is."""


class Upstreams:
    """Those of one state, in the order of its addresses; a later state with the same address shares them."""

    def __init__(self, members: tuple[Upstream, ...]) -> None:
        self.members = members
        self._turn = 0
        for member in members:
            member.holders += 1

    @classmethod
    def at(cls, addresses: Iterable[str], known: "Upstreams | None") -> "Upstreams":
        old = {member.address: member for member in known.members} if known else {}
        return cls(tuple(old.get(address) or Upstream(address) for address in addresses))

    @property
    def up(self) -> tuple[Upstream, ...]:
        return tuple(member for member in self.members if member.up)

    @property
    def reason(self) -> str:
        return "; ".join(dict.fromkeys(member.reason for member in self.members if not member.up))

    @property
    def boots(self) -> tuple[int, ...]:
        """Changes with every boot and death; empty = none serves."""
        return tuple(member.boots if member.up else 0 for member in self.members) if self.up else ()

    def choose(self, tried: set[Upstream]) -> Upstream:
        """The least loaded that was not tried. Raises ApiError 503."""
        if (pinned := PINNED.get()) is not None:
            return pinned
        candidates = [member for member in self.up if member not in tried]
        if not candidates:
            raise unavailable(f"the engine is not serving: {self.reason or 'it does not answer'}", retry_after=2)
        self._turn += 1
        turn = self._turn % len(candidates)
        return min((*candidates[turn:], *candidates[:turn]), key=lambda member: len(member.running))

    async def watch(self) -> None:
        """Looks after them for as long as their state is current."""
        await asyncio.gather(*(self._watch(member) for member in self.members))

    async def _watch(self, member: Upstream) -> None:
        while True:
            await member.look()
            await asyncio.sleep(POLL_UP_SECONDS if member.up else POLL_DOWN_SECONDS)

    async def all_up(self) -> None:
        while not all(member.up for member in self.members):
            await asyncio.gather(*(member.look() for member in self.members if not member.up))
            await asyncio.sleep(POLL_DOWN_SECONDS)

    async def release(self) -> None:
        """The last state to leave closes the connections."""
        for member in self.members:
            member.holders -= 1
            if member.holders == 0:
                await member.client.aclose()
