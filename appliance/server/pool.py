"""Connections to engines, one per address, shared by every state of the server that names it."""

import asyncio
from collections import OrderedDict
from collections.abc import Iterable

from appliance.engine.client import EngineClient, EngineDied
from appliance.engine.protocol import Ready, Request

PREFIX_TOKENS = 64
"""Requests whose first so many tokens are equal are thought to share a cached prefix."""
PREFIXES = 4096
"""How many of those are remembered."""
AFFINITY = 4.0
"""How much busier than the least loaded, in requests, a replica may be that has a prefix in its cache."""
TOKENS_PER_REQUEST = 1024
"""Prompt tokens that weigh as much as one request."""
CACHE_FULL, QUEUE_WEIGHT = 0.5, 6.0
"""What waits counts this much more for every part of the cache in use above that."""


class Replica:
    """One engine. `unfinished`: this process's requests on it, by id; `tokens`: of their prompts, not yet computed."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.client = EngineClient(address)
        self.holders = 0
        """States and generations that need the connection."""
        self.unfinished: set[str] = set()
        self.tokens = 0
        self.retired = False
        """Takes nothing more."""
        self.carries = False
        """What runs on it goes on with the engines that serve next, when it ends."""

    @property
    def open(self) -> bool:
        return not self.retired and self.client.ready is not None

    def takes(self, request: Request) -> bool:
        """Whether the adapter it asks for is there."""
        ready = self.client.ready
        return request.adapter is None or (ready is not None and request.adapter in ready.adapters)

    def load(self, servers: int) -> float:
        """In requests: what the engine said, or what we know better; `servers` processes send to it."""
        own = len(self.unfinished) + self.tokens / TOKENS_PER_REQUEST
        stats = self.client.stats
        if stats is None:
            return servers * own
        crowded = QUEUE_WEIGHT * max(0.0, stats.kv_usage - CACHE_FULL)
        return max(servers * own, stats.running + stats.waiting) + stats.waiting * crowded


class Pool:
    """`servers` is the number of API server processes that share the engines."""

    def __init__(self, servers: int = 1) -> None:
        self.servers = servers
        self._replicas: dict[str, Replica] = {}
        self._closing: set[asyncio.Task[None]] = set()

    async def hold(self, address: str) -> Replica:
        replica = self._replicas.get(address)
        if replica is None:
            replica = self._replicas[address] = Replica(address)
            await replica.client.start()
        replica.holders += 1
        return replica

    def keep(self, replica: Replica) -> None:
        replica.holders += 1

    def release(self, replica: Replica) -> None:
        """The last one to leave closes the connection."""
        replica.holders -= 1
        if replica.holders == 0:
            del self._replicas[replica.address]
            task = asyncio.create_task(replica.client.close())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    def mark(self, addresses: Iterable[str], *, retired: bool, carries: bool) -> None:
        for address in addresses:
            if replica := self._replicas.get(address):
                replica.retired, replica.carries = retired, carries

    async def close(self) -> None:
        await asyncio.gather(*self._closing, *(replica.client.close() for replica in self._replicas.values()))


class Engines:
    """The replicas of one state."""

    def __init__(self, pool: Pool, replicas: tuple[Replica, ...]) -> None:
        self.pool = pool
        self.replicas = replicas
        self.deputies: tuple[Replica, ...] = ()
        """Of the state before, with the same weights: while they are not retired they serve where no replica does."""
        self.pinned: Replica | None = None
        """While a state proves itself, the one replica that is asked."""
        self._known: Ready | None = None
        self._turn = 0
        self._seen: OrderedDict[int, str] = OrderedDict()

    @property
    def open(self) -> tuple[Replica, ...]:
        return tuple(replica for replica in self.replicas if replica.open)

    @property
    def deputy(self) -> tuple[Replica, ...]:
        """Those deputies that are there."""
        return tuple(replica for replica in self.deputies if replica.open)

    @property
    def ready(self) -> Ready | None:
        """Of the first replica that serves; None = nothing can be generated, `reason` says why."""
        serving = next((replica.client.ready for replica in self.open), None)
        self._known = serving or self._known
        return serving

    @property
    def facts(self) -> Ready:
        """Of the engines that serve, or served when this was last looked up; only where `ready` was seen."""
        known = self.ready or self._known
        assert known is not None, "no engine has been up"
        return known

    @property
    def lead_on(self) -> bool:
        """What comes for them now goes on with the engines that serve next."""
        return self._known is not None and all(replica.carries for replica in self.replicas)

    @property
    def reason(self) -> str:
        reasons = dict.fromkeys(
            replica.client.reason if not replica.retired else "the engine is being replaced"
            for replica in self.replicas
            if not replica.open
        )
        return "; ".join(reasons)

    @property
    def instances(self) -> tuple[str, ...]:
        """Of those that serve; changes with every boot and death."""
        return tuple(replica.client.ready.instance for replica in self.open if replica.client.ready)

    def label(self, replica: Replica) -> str:
        """The `engine` of metrics."""
        return str(self.replicas.index(replica)) if replica in self.replicas else "0"

    def choose(self, request: Request) -> Replica:
        """The least loaded, or one nearly so that has computed this prefix. Raises EngineDied."""
        if self.pinned is not None:
            return self.pinned
        candidates = [replica for replica in self.open or self.deputy if replica.takes(request)]
        if not candidates:
            raise EngineDied(self.reason or "the adapter is not loaded")
        if len(candidates) == 1:
            return candidates[0]
        self._turn += 1
        turn = self._turn % len(candidates)
        loads = {replica: replica.load(self.pool.servers) for replica in candidates[turn:] + candidates[:turn]}
        best = min(loads, key=loads.__getitem__)
        key = hash((request.adapter, request.cache_salt, *request.prompt[:PREFIX_TOKENS]))
        known = next((replica for replica in candidates if replica.address == self._seen.get(key)), None)
        if known is not None and len(request.prompt) >= PREFIX_TOKENS and loads[known] <= loads[best] + AFFINITY:
            best = known
        self._seen[key] = best.address
        self._seen.move_to_end(key)
        if len(self._seen) > PREFIXES:
            self._seen.popitem(last=False)
        return best

    def succeed(self, before: "Engines") -> None:
        """Those of the state before stand by until they are dismissed, where they hold the same weights."""
        ours = {weights(replica) for replica in self.open}
        self.deputies = tuple(one for one in before.open if one not in self.replicas and ours == {weights(one)})
        for replica in self.deputies:
            self.pool.keep(replica)

    def dismiss(self, addresses: Iterable[str] | None = None) -> None:
        """Deputies at these addresses, None = all, are asked nothing more."""
        gone = [one for one in self.deputies if addresses is None or one.address in addresses]
        self.deputies = tuple(one for one in self.deputies if one not in gone)
        for replica in gone:
            self.pool.release(replica)

    def release(self) -> None:
        self.dismiss()
        for replica in self.replicas:
            self.pool.release(replica)


def weights(replica: Replica) -> str | None:
    """Their fingerprint; None while it is down."""
    return replica.client.ready.weights_fingerprint if replica.client.ready else None


async def engines_at(pool: Pool, addresses: Iterable[str]) -> Engines:
    return Engines(pool, tuple([await pool.hold(address) for address in addresses]))
