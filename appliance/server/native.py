"""A state on engines of our own: endpoints, tokenizer, and the road to the engines behind them."""

import asyncio
import hashlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from starlette.types import Scope

from appliance.engine.tokenizer import TokenizerError, load
from appliance.server import auth
from appliance.server.admission import Admission
from appliance.server.app import build_routes, offered
from appliance.server.board import Board
from appliance.server.config import ServerConfig
from appliance.server.context import Context
from appliance.server.guard import guarded
from appliance.server.pool import engines_at
from appliance.server.proving import prove
from appliance.server.pulse import Pulse
from appliance.server.readiness import Readiness
from appliance.server.shared import Shared
from appliance.server.states import Proof, State, StateError
from appliance.server.watching import Watches

PROOF_REQUESTS = 1024


class NativeState:
    """Made by `build`."""

    def __init__(
        self, context: Context, digests: tuple[bytes, ...], tokenizer_files: str, before: State | None
    ) -> None:
        self.config = context.config
        self.tokenizer_files = tokenizer_files
        self.context = context
        endpoints = offered(context.config)
        self.open_paths = frozenset(endpoint.path for endpoint in endpoints if endpoint.open(context.config))
        self._work = frozenset(endpoint.path for endpoint in endpoints if endpoint.generates)
        self._keys = auth.KeyGuard(digests, self.open_paths)
        self.app = guarded(build_routes(context), context.config, self._keys)
        self._watches = Watches()
        self._successor = before if isinstance(before, NativeState) else None
        """Who serves in its stead: for a candidate the state before, for one that has served the next."""

    @property
    def down(self) -> bool:
        return not self.context.engines.open and not self.context.engines.deputy

    def is_work(self, scope: Scope) -> bool:
        return scope["method"] == "POST" and scope["path"] in self._work

    def admits(self, scope: Scope) -> bool:
        return self._keys.admits(scope)

    async def prove(self, seconds: float, probe: bool) -> Proof:
        before = self._successor
        proven = before.context.readiness.probed if before is not None else ()
        return await prove(self.context, self.app, proven, seconds, probe)

    def begin(self, before: State | None) -> None:
        self._successor = None
        shared, context = self.context.shared, self.context
        shared.engines = context.engines
        shared.admission.max_requests = self.config.queue_requests
        shared.admission.max_tokens = self.config.queue_tokens
        context.admission = shared.admission
        for replica in context.engines.replicas:
            shared.metrics.numbers(self.config.served_names[0], context.engines.label(replica))
        if isinstance(before, NativeState):
            context.readiness.take_over(before.context.readiness)
            before.retreat(self)
            context.engines.succeed(before.context.engines)
        self._watches.start(context.pulse.watch, partial(context.readiness.watch, context))

    def retreat(self, successor: "NativeState") -> None:
        """Another state is current: whether these engines live is no longer this server's readiness."""
        self._successor = successor
        self.context.engines.dismiss()
        self._watches.cancel()

    async def close(self) -> None:
        await self._watches.stop()
        serving = self._successor
        while serving is not None and serving._successor is not None:
            serving = serving._successor
        if serving is not None:
            shared = [one for one in self.context.engines.replicas if one in serving.context.engines.replicas]
            await self.context.adapters.leave(shared, serving.context.adapters)
        self.context.engines.release()

    def left_on(self, addresses: frozenset[str]) -> int:
        running = sum(generation.left_on(addresses) for generation in self.context.generations)
        bound_for = {replica.address for replica in self.context.engines.replicas} <= addresses
        return max(running, self.context.arriving) if bound_for else running

    def carry(self, addresses: frozenset[str]) -> int:
        return sum(generation.carry(addresses) for generation in list(self.context.generations))

    def cut(self, addresses: frozenset[str] | None, why: str) -> int:
        doomed = [g for g in self.context.generations if addresses is None or g.left_on(addresses)]
        return sum(generation.cut(why) for generation in doomed)


async def build(config: ServerConfig, shared: Shared, before: State | None) -> NativeState:
    """Raises StateError."""
    try:
        files = await asyncio.to_thread(_tokenizer_files, config)
        digests = await asyncio.to_thread(auth.read_keys, config.api_keys)
        if isinstance(before, NativeState) and before.tokenizer_files == files:
            tokenizer = before.context.tokenizer
        else:
            tokenizer = await asyncio.to_thread(load, config.model_path, chat_template=config.chat_template)
    except (TokenizerError, auth.KeyMissingError, OSError) as error:
        raise StateError(str(error)) from error
    engines = await engines_at(shared.pool, config.engine_addresses)
    try:
        own = Admission(PROOF_REQUESTS, None, Board.alone())
        context = Context(config, shared, engines, tokenizer, own, Pulse(engines, shared.gate), Readiness())
        return await asyncio.to_thread(NativeState, context, digests, files, before)
    except BaseException:
        engines.release()
        raise


def _tokenizer_files(config: ServerConfig) -> str:
    """Changes with what a tokenizer is made from."""
    digest = hashlib.sha256(repr((config.model_path, config.chat_template)).encode())
    for path in _sources(config):
        facts = path.stat()
        digest.update(f"{path.name} {facts.st_size} {facts.st_mtime_ns} {facts.st_ino}\n".encode())
    return digest.hexdigest()


def _sources(config: ServerConfig) -> Iterator[Path]:
    model = Path(config.model_path)
    weights = (".safetensors", ".bin", ".pt")
    if model.is_dir():
        yield from sorted(path for path in model.iterdir() if path.is_file() and path.suffix not in weights)
    else:
        yield model
    if config.chat_template is not None:
        yield Path(config.chat_template)
