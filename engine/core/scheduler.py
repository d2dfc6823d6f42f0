"""Which requests run in the next step, and how many tokens of each. Plain Python over ints.

Order within a step: every decode, then running prefills, then admissions, each by rank (priority, arrival). Decodes
never wait for prefills. A prefill that cannot end in this step takes at most half of the tokens left while others want
some; what nobody took goes back to it. Memory that is short is taken from the highest rank (preemption by recompute),
never for an admission.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable

from appliance.engine.config import EngineConfig
from appliance.engine.core.kv_cache import KVCache
from appliance.engine.core.prefix_cache import Alike
from appliance.engine.core.request import RequestState, Status
from appliance.engine.core.slots import SlotNumbers

Plan = dict[RequestState, int]
"""Tokens each request computes in this step."""


def _rank(request: RequestState) -> tuple[int, int]:
    return request.rank


class Scheduler:
    """The one place that gives and takes slots and blocks."""

    def __init__(self, config: EngineConfig) -> None:
        self.kv = KVCache(config.num_blocks, config.block_tokens)
        self.slots = SlotNumbers(config.max_sequences)
        self.running: list[RequestState] = []
        self.waiting: list[RequestState] = []
        self.num_preemptions = 0
        self.prefix_queries = 0
        self.prefix_hits = 0
        self._vacated: list[int] = []
        self.reconfigure(config)

    def reconfigure(self, config: EngineConfig) -> None:
        """Between two steps. Requests that run stay, even where they are more than `config` would have admitted."""
        self.max_batch_tokens = config.max_batch_tokens
        self.chunked_prefill = config.chunked_prefill
        self.max_running = min(config.max_sequences, config.max_batch_tokens)
        self.slots.limit = config.max_sequences
        self.kv.use_prefix_cache(config.prefix_caching)

    def add(self, request: RequestState) -> None:
        insort(self.waiting, request, key=_rank)

    def finish(self, request: RequestState) -> None:
        """Takes slot and blocks back at once, in whatever state the request is."""
        if request.status is Status.RUNNING:
            self._evict(request)
        else:
            _remove(self.waiting, request)
        request.status = Status.FINISHED

    def take_vacated(self) -> list[int]:
        """Slots whose request left since the last call; the runner is to forget them before the next step."""
        vacated, self._vacated = self._vacated, []
        return vacated

    def schedule(self) -> Plan:
        """Empty only when nothing is running or waiting."""
        self.kv.begin_step()
        plan: Plan = {}
        prefills = self._schedule_decodes(plan)
        partial = self._schedule_prefills(plan, prefills)
        for request, tokens in plan.items():
            self.kv.publish(request, request.num_computed + tokens)
        self._admit(plan, partial)
        self._spend_rest(plan, partial)
        # A lowered budget holds as soon as it can: decodes admitted under a larger one all go on.
        assert sum(plan.values()) <= max(self.max_batch_tokens, len(plan))
        return plan

    def _left(self, plan: Plan) -> int:
        return max(0, self.max_batch_tokens - sum(plan.values()))

    def _schedule_decodes(self, plan: Plan) -> list[RequestState]:
        """Returns the running requests that are no decodes."""
        prefills = []
        for request in self.running.copy():
            if request.status is not Status.RUNNING:
                continue
            if request.num_uncomputed > 1:
                prefills.append(request)
            elif self._make_room(request, 1, plan):
                plan[request] = 1
        return prefills

    def _schedule_prefills(self, plan: Plan, prefills: list[RequestState]) -> list[RequestState]:
        """Returns those that do not end in this step."""
        partial = []
        for index, request in enumerate(prefills):
            if request.status is not Status.RUNNING:
                continue
            budget = self._left(plan)
            others = index + 1 < len(prefills) or bool(self.waiting)
            tokens = self._chunk(request, request.num_uncomputed, budget, others)
            if tokens and not self._make_room(request, tokens, plan):
                continue
            if tokens:
                plan[request] = tokens
            if tokens < request.num_uncomputed:
                partial.append(request)
        return [request for request in partial if request.status is Status.RUNNING]

    def _admit(self, plan: Plan, partial: list[RequestState]) -> None:
        budget = self._left(plan)
        reserved = sum(self._blocks_missing(request) for request in partial)
        pending = {self.kv.upcoming_hash(request, request.num_computed + plan.get(request, 0)) for request in partial}
        admitted = []
        for index, request in enumerate(self.waiting):
            if budget <= 0 or len(self.running) >= self.max_running:
                break
            if request.deferred_on and request.deferred_on in pending:
                continue
            found = self.kv.match(request)
            upcoming = self.kv.hash_after(request, len(found))
            if upcoming and upcoming in pending:
                request.deferred_on = upcoming
                continue
            alike = self.kv.alike(request, len(found))
            if alike is not None and not self._fits(request, found, reserved, alike):
                alike = None
            if not self._fits(request, found, reserved, alike):
                break
            cached = len(found) * self.kv.block_tokens + (alike.tokens if alike else 0)
            left = len(request.token_ids) - cached
            tokens = self._chunk(request, left, budget, others=index + 1 < len(self.waiting))
            if not tokens:
                break
            self._start(request, found, alike, tokens)
            admitted.append(request)
            plan[request] = tokens
            budget -= tokens
            if tokens < left:
                partial.append(request)
                pending.add(self.kv.upcoming_hash(request, cached + tokens))
                reserved += self._blocks_missing(request)
        for request in admitted:
            _remove(self.waiting, request)

    def _fits(self, request: RequestState, found: list[int], reserved: int, alike: Alike | None) -> bool:
        """All tokens known so far get their blocks, and everyone who runs has one more to grow into."""
        taken = found if alike is None else [*found, alike.block]
        revived = sum(not self.kv.blocks.is_held(block) for block in taken)
        needed = self.kv.blocks_for(len(request.token_ids)) - len(found) + revived
        return needed + reserved + len(self.running) <= self.kv.blocks.num_free

    def _start(self, request: RequestState, found: list[int], alike: Alike | None, tokens: int) -> None:
        self.kv.attach(request, found, alike)
        if request.status is Status.WAITING and self.kv.prefix_caching and request.reads_cache:
            request.cached_tokens = request.num_computed
            self.prefix_queries += request.prompt_length
            self.prefix_hits += request.cached_tokens
        grown = self.kv.grow(request, request.num_computed + tokens)
        assert grown, "admitted without room"
        self.kv.publish(request, request.num_computed + tokens)
        request.slot = self.slots.take()
        request.status = Status.RUNNING
        request.needs_start = True
        request.deferred_on = b""
        insort(self.running, request, key=_rank)

    def _spend_rest(self, plan: Plan, partial: list[RequestState]) -> None:
        budget = self._left(plan)
        for request in partial:
            planned = plan.get(request, 0)
            extra = self._chunk(request, request.num_uncomputed - planned, budget, others=False)
            covered = request.num_computed + planned + extra
            if extra and self.kv.grow(request, covered):
                self.kv.publish(request, covered)
                plan[request] = planned + extra
                budget -= extra

    def _chunk(self, request: RequestState, left: int, budget: int, others: bool) -> int:
        """How many of the `left` tokens the request may compute now.

        Without chunked prefill all or none; but a request that outgrew a whole step (preempted, moved here from another
        engine, or caught by a change) has no other way.
        """
        if left <= budget:
            return left
        if not self.chunked_prefill:
            begun = request.status is Status.RUNNING
            return budget if begun or len(request.token_ids) > self.max_batch_tokens else 0
        return max(budget // 2, min(budget, self.kv.block_tokens)) if others else budget

    def _make_room(self, request: RequestState, tokens: int, plan: Plan) -> bool:
        """Blocks for `tokens` more, preempting from the highest rank down; False when that hit the request itself."""
        while not self.kv.grow(request, request.num_computed + tokens):
            victim = self.running[-1]
            plan.pop(victim, None)
            self._evict(victim)
            victim.status = Status.PREEMPTED
            victim.preemptions += 1
            victim.prompt_logprobs.clear()
            self.num_preemptions += 1
            self.add(victim)
            if victim is request:
                return False
        return True

    def _evict(self, request: RequestState) -> None:
        _remove(self.running, request)
        self.kv.release(request)
        self.slots.give(request.slot)
        self._vacated.append(request.slot)
        request.slot = -1

    def _blocks_missing(self, request: RequestState) -> int:
        return self.kv.blocks_for(len(request.token_ids)) - len(request.block_table)

    def check_integrity(self) -> None:
        """Slow; for idle moments and tests."""
        everyone: Iterable[RequestState] = [*self.running, *self.waiting]
        for request in everyone:
            request.check()
        assert all(request.status is Status.RUNNING for request in self.running)
        assert all(request.status in (Status.WAITING, Status.PREEMPTED) for request in self.waiting)
        assert self.running == sorted(self.running, key=_rank) and self.waiting == sorted(self.waiting, key=_rank)
        self.slots.check_integrity(request.slot for request in self.running)
        for request in self.running:
            assert len(request.block_table) >= self.kv.blocks_for(request.num_computed)
        self.kv.blocks.check_integrity(request.block_table for request in self.running)


def _remove(requests: list[RequestState], request: RequestState) -> None:
    index = bisect_left(requests, request.rank, key=_rank)
    assert requests[index] is request
    del requests[index]
