"""A state whose engines are vLLM processes. Made by `build`."""

import asyncio
import logging
from functools import partial

from starlette.types import Scope

from appliance.server import auth, proofs
from appliance.server.admission import Admission
from appliance.server.board import Board
from appliance.server.config import ServerConfig
from appliance.server.guard import guarded, inside_client
from appliance.server.proxy import elastic
from appliance.server.proxy.adapters import Adapters
from appliance.server.proxy.app import build_app, open_paths
from appliance.server.proxy.passage import Passage
from appliance.server.proxy.readiness import Readiness
from appliance.server.proxy.routes import ROUTES
from appliance.server.proxy.upstream import PINNED, Upstream, Upstreams
from appliance.server.shared import Shared
from appliance.server.states import Proof, State, StateError
from appliance.server.watching import Watches

PROOF_REQUESTS = 1024

logger = logging.getLogger("appliance.server")


class ProxyState:
    def __init__(
        self,
        config: ServerConfig,
        shared: Shared,
        digests: tuple[bytes, ...],
        upstreams: Upstreams,
        before: "ProxyState | None",
    ) -> None:
        self.config = config
        self.before = before
        """Current when this one was built; None once it serves itself."""
        self.shared = shared
        self.upstreams = upstreams
        self.proofs = Admission(PROOF_REQUESTS, None, Board.alone())
        """A full queue is no reason not to be ready."""
        self.readiness = Readiness()
        self.adapters = Adapters(config.adapters)
        self.passages: set[Passage] = set()
        self.arriving = 0
        """Requests whose body is still being read."""
        self.unproven = True
        self.open_paths = open_paths(config)
        self._successor: ProxyState | None = None
        self._began = False
        self._work = frozenset(route.path for route in ROUTES if route.work and route.offered(config))
        self._keys = auth.KeyGuard(digests, self.open_paths)
        self.app = guarded(build_app(self), config, self._keys)
        self._watches = Watches()

    @property
    def newest(self) -> "ProxyState":
        """The state that is current now."""
        state = self
        while state._successor is not None:
            state = state._successor
        return state

    @property
    def down(self) -> bool:
        return not self.upstreams.up

    def is_work(self, scope: Scope) -> bool:
        return scope["method"] == "POST" and scope["path"] in self._work

    def admits(self, scope: Scope) -> bool:
        return self._keys.admits(scope)

    async def prove(self, seconds: float, probe: bool) -> Proof:
        stage = ["vLLM"]
        try:
            async with asyncio.timeout(seconds):
                await self.upstreams.all_up()
                await elastic.fit(self.upstreams.members, self.config.elastic_size)
                await self.adapters.bring(self.upstreams.members)
                proof: Proof = {"replicas": len(self.upstreams.members)}
                if probe:
                    for number, member in enumerate(self.upstreams.members):
                        told = await self.probe(member, seconds, stage)
                        proof |= {f"{name}[{number}]" if number else name: detail for name, detail in told.items()}
                self.unproven = False
                return proof
        except TimeoutError:
            missing = f" ({self.upstreams.reason})" if self.upstreams.reason else ""
            raise StateError(f"no answer from {stage[0]} within {round(seconds, 1):g} s{missing}") from None

    async def probe(self, member: Upstream, seconds: float, stage: list[str]) -> dict[str, str]:
        """What one vLLM answers to a request of each kind that is served. Raises StateError."""
        pin = PINNED.set(member)
        try:
            told = await proofs.run(self.app, self.config, {}, seconds, stage)
            if self.config.endpoints.get("embeddings", "off") != "off":
                stage[0] = "an embedding"
                told["embedding"] = await self._embedding(seconds)
            return told
        finally:
            PINNED.reset(pin)

    async def _embedding(self, seconds: float) -> str:
        async with inside_client(self.app, seconds) as client:
            body = {"model": self.config.served_names[0], "input": "Hi"}
            answer = await client.post("/v1/embeddings", json=body)
        match answer.json():
            case {"data": [{"embedding": list(vector)}]}:
                return f"{len(vector)} numbers"
        said = answer.json().get("error", {}).get("message", answer.text[:200])
        if answer.status_code == proofs.UNABLE and self.config.endpoints["embeddings"] != "required":
            return f"not served: {said}"
        raise StateError(f"an embedding failed: {answer.status_code}: {said}")

    def begin(self, before: State | None) -> None:
        self._began, self.before = True, None
        self.shared.engines = None
        self.shared.admission.max_requests = self.config.queue_requests
        self.shared.admission.max_tokens = self.config.queue_tokens
        if isinstance(before, ProxyState):
            before.retreat(self)
            if self.unproven:
                self.readiness.checks = dict(before.readiness.checks)
        if not self.unproven:
            self.readiness.proven(self)
        self._watches.start(self.upstreams.watch, partial(self.readiness.watch, self))

    def retreat(self, successor: "ProxyState") -> None:
        self._successor = successor
        self._watches.cancel()

    async def close(self) -> None:
        await self._watches.stop()
        await self.adapters.leave()
        if not self._began:
            await self._give_back()
        await self.upstreams.release()

    async def _give_back(self) -> None:
        """A candidate that was dropped leaves vLLM with the engines of the state that serves."""
        if self.before is None or self.before.newest.config.elastic_size == self.config.elastic_size:
            return
        serving = self.before.newest
        shared = [member for member in self.upstreams.members if member in serving.upstreams.members]
        try:
            await elastic.fit(shared, serving.config.elastic_size)
        except StateError as error:
            logger.error("%s", error)

    def joined(self, passage: Passage) -> None:
        self.passages.add(passage)

    def left(self, passage: Passage) -> None:
        self.passages.discard(passage)

    def left_on(self, addresses: frozenset[str]) -> int:
        running = sum(1 for passage in self.passages if _is_on(passage, addresses))
        bound_for = {member.address for member in self.upstreams.members} <= addresses
        return max(running, self.arriving) if bound_for else running

    def carry(self, addresses: frozenset[str]) -> int:
        return sum(passage.carry() for passage in list(self.passages) if _is_on(passage, addresses))

    def cut(self, addresses: frozenset[str] | None, why: str) -> int:
        doomed = [passage for passage in self.passages if addresses is None or _is_on(passage, addresses)]
        return sum(passage.cut(why) for passage in doomed)


def _is_on(passage: Passage, addresses: frozenset[str]) -> bool:
    return passage.upstream is not None and passage.upstream.address in addresses
