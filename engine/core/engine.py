"""Requests in, updates out: schedule, run, account. Knows neither tensors nor sockets."""

import logging
import secrets
import time
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from appliance.engine.config import EngineConfig
from appliance.engine.core.adapters import Adapters
from appliance.engine.core.admission import Limits, refusal
from appliance.engine.core.postprocess import advance
from appliance.engine.core.reconfigure import reconfigured
from appliance.engine.core.request import RequestState
from appliance.engine.core.scheduler import Scheduler
from appliance.engine.core.share import share_out
from appliance.engine.core.types import Runner
from appliance.engine.protocol import STEP_TOKEN_BOUNDS, Request, Stats, Update

logger = logging.getLogger(__name__)

Updates = dict[bytes, list[Update]]
"""By owner, the server that asked."""

MAX_FAILED_STEPS = 3


class EngineBroken(Exception):  # noqa: N818
    """Steps keep failing: only a new process helps."""


class Engine:
    """Single-threaded: nothing happens outside these calls.

    A step that raises fails the requests that ran in it, voids what it was to write into the prefix cache, and the
    engine goes on; after MAX_FAILED_STEPS in a row `step` raises EngineBroken. A runner that breaks its contract is
    an AssertionError, and the end of the process.
    """

    def __init__(
        self,
        config: EngineConfig,
        runner: Runner,
        vocab_size: int,
        eos_token_ids: tuple[int, ...],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.config = config
        self.scheduler = Scheduler(config)
        self.limits = Limits.of(config, vocab_size)
        self.adapters = Adapters(runner)
        self._runner = runner
        self._eos_token_ids = eos_token_ids
        self._clock = clock
        self._requests: dict[tuple[bytes, str], RequestState] = {}
        self._ended_adapters: list[int] = []
        """Of requests whose slots are yet to be freed."""
        self._arrivals = 0
        self._failed_steps = 0
        self._steps = 0
        self._step_sizes = [0] * (len(STEP_TOKEN_BOUNDS) + 1)
        self._step_tokens = 0
        self._prompt_tokens = 0
        self._generation_tokens = 0

    @property
    def has_work(self) -> bool:
        return bool(self._requests)

    def add(self, owner: bytes, requests: Sequence[Request]) -> list[Update]:
        """Returns the updates of those that were refused."""
        refused = []
        for request in requests:
            key = (owner, request.request_id)
            error = refusal(request, self.limits, self.adapters.by_name)
            if key in self._requests:
                error = "a request of this id is running"
            if error is not None:
                refused.append(Update(request_id=request.request_id, finish_reason="error", error=error))
                continue
            state = self._accept(owner, request)
            self._requests[key] = state
            self.scheduler.add(state)
        return refused

    def abort(self, owner: bytes, request_ids: Iterable[str]) -> list[Update]:
        """Slots and blocks are free on return. Ids that are unknown or have ended are fine."""
        updates = []
        for request_id in request_ids:
            state = self._requests.get((owner, request_id))
            if state is not None:
                self._finish(state)
                updates.append(Update(request_id=request_id, finish_reason="abort"))
        self._free_vacated()
        return updates

    def abort_owner(self, owner: bytes) -> int:
        """The server is gone: so are its requests. How many those were."""
        left = [request_id for holder, request_id in list(self._requests) if holder == owner]
        self.abort(owner, left)
        return len(left)

    def step(self) -> Updates:
        """One forward pass; nothing to do is fine."""
        plan = self.scheduler.schedule()
        self._free_vacated()
        if not plan:
            return {}
        now = self._clock()
        states, scheduled = share_out(plan, now)
        try:
            outputs = self._runner.step(scheduled)
        except Exception as error:
            return self._fail(states, error)
        self.scheduler.kv.end_step()
        self._failed_steps = 0
        tokens = sum(plan.values())
        self._steps += 1
        self._step_sizes[bisect_left(STEP_TOKEN_BOUNDS, tokens)] += 1
        self._step_tokens += tokens
        assert [output.slot for output in outputs] == [share.slot for share in scheduled], "outputs out of order"
        updates: Updates = defaultdict(list)
        now = self._clock()
        for state, share, output in zip(states, scheduled, outputs, strict=True):
            first = share.num_computed
            self._prompt_tokens += max(0, min(first + share.num_tokens, state.prompt_length) - first)
            before = len(state.token_ids)
            update = advance(state, share, output, now)
            if update is None:
                continue
            self._generation_tokens += len(state.token_ids) - before
            updates[state.owner].append(update)
            if update.finish_reason is not None:
                self._finish(state)
        self._free_vacated()
        return updates

    def stats(self) -> Stats:
        scheduler = self.scheduler
        blocks = scheduler.kv.blocks
        return Stats(
            running=len(scheduler.running),
            waiting=len(scheduler.waiting),
            kv_usage=blocks.num_held / blocks.num_blocks,
            prefix_queries=scheduler.prefix_queries,
            prefix_hits=scheduler.prefix_hits,
            preemptions=scheduler.num_preemptions,
            prompt_tokens=self._prompt_tokens,
            generation_tokens=self._generation_tokens,
            steps=self._steps,
            step_sizes=self._step_sizes.copy(),
            step_tokens=self._step_tokens,
            free_blocks=blocks.num_free,
            cached_blocks=scheduler.kv.num_cached_blocks,
            free_slots=scheduler.slots.num_free,
        )

    def reconfigure(self, settings: Mapping[str, bool | int | str]) -> EngineConfig:
        """What holds from the next step on; ValueError says why nothing changed.

        Requests taken earlier, waiting ones too, keep the context they were taken with.
        """
        self.config = reconfigured(self.config, settings)
        self.limits = Limits.of(self.config, self.limits.vocab_size)
        self.scheduler.reconfigure(self.config)
        return self.config

    def reset_prefix_cache(self) -> None:
        self.scheduler.kv.blocks.drop_cached()

    def check_integrity(self) -> None:
        self.scheduler.check_integrity()
        known = {*self.scheduler.running, *self.scheduler.waiting}
        assert known == set(self._requests.values())
        self.adapters.check_integrity(Counter(state.adapter for state in known if state.adapter))

    def _accept(self, owner: bytes, request: Request) -> RequestState:
        self._arrivals += 1
        seed = secrets.randbits(63)
        adapter = self.adapters.by_name[request.adapter] if request.adapter is not None else None
        state = RequestState.from_message(
            owner, request, self._arrivals, seed, self._eos_token_ids, self.limits.max_tokens, adapter
        )
        self.adapters.use(state.adapter)
        return state

    def _finish(self, state: RequestState) -> None:
        del self._requests[state.owner, state.request_id]
        self._ended_adapters.append(state.adapter)
        self.scheduler.finish(state)

    def _free_vacated(self) -> None:
        """The runner forgets slots first, then the adapters that they used."""
        for slot in self.scheduler.take_vacated():
            self._runner.free(slot)
        while self._ended_adapters:
            self.adapters.release(self._ended_adapters.pop())

    def _fail(self, states: list[RequestState], error: Exception) -> Updates:
        self._failed_steps += 1
        logger.exception("step failed (%d in a row); its %d requests end", self._failed_steps, len(states))
        if self._failed_steps >= MAX_FAILED_STEPS:
            raise EngineBroken(f"{self._failed_steps} steps failed in a row, the last with {error!r}") from error
        self.scheduler.kv.discard_step()
        self.scheduler.kv.end_step()
        updates: Updates = defaultdict(list)
        text = f"the step failed: {type(error).__name__}: {error}"
        for state in states:
            updates[state.owner].append(Update(request_id=state.request_id, finish_reason="error", error=text))
            self._finish(state)
        self._free_vacated()
        return updates
