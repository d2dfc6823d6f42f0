"""Which state serves, which one wants to, and those that still answer what they took."""

import asyncio
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager

from appliance.engine import logs
from appliance.server.config import ServerConfig
from appliance.server.engine_numbers import EngineNumbers, QueueNumbers
from appliance.server.gate import Watch
from appliance.server.profile_numbers import ProfileNumbers
from appliance.server.shared import Shared
from appliance.server.states import Proof, State, StateError, build

logger = logging.getLogger("appliance.server")

LOOK_SECONDS = 0.02


class Succession:
    """`start` before anything else."""

    current: State

    def __init__(self, shared: Shared) -> None:
        self.shared = shared
        self.profile = ProfileNumbers()
        self._candidate: State | None = None
        self._preparing: asyncio.Task[Proof] | None = None
        self._answering: dict[State, int] = {}
        """HTTP requests by state; a state stands here from its switch to its last request."""
        self._closing: set[asyncio.Task[None]] = set()
        self._carries = False
        """What runs on the current engines goes on with others, should they end."""
        self._standing_by: asyncio.Task[None] | None = None
        shared.metrics.add((EngineNumbers(shared), QueueNumbers(shared.board), self.profile))

    @property
    def states(self) -> tuple[State, ...]:
        """Current or still answering."""
        return tuple(self._answering)

    async def start(self, config: ServerConfig) -> None:
        """The first state, without a proof: its engines may still boot. Raises StateError."""
        self._enter(await build(config, self.shared, None), None)

    async def prepare(self, config: ServerConfig, seconds: float, probe: bool) -> Proof:
        """Raises StateError: what is wrong with the candidate, which is gone then."""
        if self._preparing is not None or self._candidate is not None:
            raise StateError("there is a candidate already: switch to it or discard it first")
        self._preparing = asyncio.create_task(self._build_and_prove(config, seconds, probe))
        try:
            return await self._preparing
        except asyncio.CancelledError:
            raise StateError("it was discarded before it had proven itself") from None
        except StateError:
            raise
        except Exception as error:
            logger.error("a new state failed", exc_info=error)
            raise StateError(f"{type(error).__name__}: {error}") from error
        finally:
            self._preparing = None

    async def _build_and_prove(self, config: ServerConfig, seconds: float, probe: bool) -> Proof:
        deadline = time.monotonic() + seconds
        self.shared.pool.mark(config.engine_addresses, retired=False, carries=False)
        try:
            async with asyncio.timeout(seconds):
                candidate = await build(config, self.shared, self.current)
        except TimeoutError:
            raise StateError(f"tokenizer and routes were not there within {seconds:g} s") from None
        try:
            proof = await candidate.prove(deadline - time.monotonic(), probe)
        except BaseException:
            await candidate.close()
            raise
        self._candidate = candidate
        return proof

    def switch(self) -> None:
        """Raises StateError without a candidate."""
        if self._candidate is None:
            raise StateError("there is no candidate to switch to")
        state, self._candidate = self._candidate, None
        self._enter(state, self.current)
        self._open()

    def discard(self) -> None:
        if self._preparing is not None:
            self._preparing.cancel()
        if self._candidate is not None:
            candidate, self._candidate = self._candidate, None
            self._close(candidate)

    def stand_by(self, requests: int, seconds: float, carry: bool) -> None:
        """Until `release`: see control.Standby."""
        self._carries = carry
        self.shared.gate.watch(Watch(requests, seconds, lambda: self.current.down))
        if self._standing_by is None:
            self._standing_by = asyncio.create_task(self._look())

    def release(self) -> None:
        """What is held goes to the current state, on engines that take work again."""
        self._carries = False
        self.shared.gate.watch(None)
        if self._standing_by is not None:
            self._standing_by.cancel()
            self._standing_by = None
        self._open()

    def _open(self) -> None:
        self.shared.pool.mark(self.current.config.engine_addresses, retired=False, carries=self._carries)
        self.shared.gate.release()

    async def _look(self) -> None:
        """Engines that come back by themselves are found here; those that go, by whoever wants them, too."""
        while True:
            self.shared.gate.look()
            await asyncio.sleep(LOOK_SECONDS)

    @contextmanager
    def keeping(self, state: State) -> Iterator[None]:
        """A request is answered by it."""
        self._answering[state] += 1
        try:
            yield
        finally:
            self._answering[state] -= 1
            if not self._answering[state] and state is not self.current:
                self._drop(state)

    def cut(self, why: str) -> None:
        """Everything that runs ends with 503."""
        for state in self.states:
            state.cut(None, why)

    async def close(self) -> None:
        self.discard()
        if self._standing_by is not None:
            self._standing_by.cancel()
        for state in self.states:
            self._drop(state)
        await asyncio.gather(*self._closing)
        await self.shared.pool.close()

    def _enter(self, state: State, before: State | None) -> None:
        logs.configure(state.config.log_level, state.config.log_format)
        self.current = state
        self.shared.model = state.config.served_names[0]
        self._answering[state] = 0
        state.begin(before)
        self.profile.switched(state.config)
        if before is not None:
            logger.info("revision %d serves, generation %d", state.config.revision, state.config.generation)
            if not self._answering[before]:
                self._drop(before)

    def _drop(self, state: State) -> None:
        del self._answering[state]
        self._close(state)

    def _close(self, state: State) -> None:
        task = asyncio.create_task(state.close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)
