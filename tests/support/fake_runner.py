"""A runner without tensors whose "attention" checks the paged cache: a sharing fault anywhere fails at once."""

from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from appliance.engine.checkpoint.errors import CheckpointError
from appliance.engine.config import EngineConfig
from appliance.engine.core.engine import Engine
from appliance.engine.core.types import AdapterFacts, ScheduledRequest, SlotStart, StepOutput
from appliance.engine.protocol import Request, SamplingParams, TokenLogprobs, Update

VOCAB = 97
EOS = 96


def next_token(tokens: list[int], weights: str = "") -> int:
    """Depends on every token before it and on the adapter's weights; EOS never comes by itself."""
    return int.from_bytes(sha256(f"{tokens}{weights}".encode()).digest()[:4]) % EOS


def continuation(prompt: list[int], count: int, weights: str = "") -> list[int]:
    """What a request gives alone."""
    tokens = list(prompt)
    for _ in range(count):
        tokens.append(next_token(tokens, weights))
    return tokens[len(prompt) :]


def engine_config(**options: Any) -> EngineConfig:
    values: dict[str, Any] = {
        "address": "",
        "model_path": "",
        "dtype": "float32",
        "kv_dtype": "float32",
        "block_tokens": 4,
        "num_blocks": 64,
        "max_context": 200,
        "max_sequences": 8,
        "max_batch_tokens": 32,
    }
    return EngineConfig(**(values | options))


def ask(
    name: str,
    prompt: list[int],
    max_tokens: int = 4,
    *,
    salt: str | None = None,
    priority: int = 0,
    adapter: str | None = None,
    group: str = "",
    **sampling: Any,
) -> Request:
    wanted = SamplingParams(max_tokens=max_tokens, **sampling)
    return Request(
        request_id=name,
        prompt=prompt,
        sampling=wanted,
        cache_salt=salt,
        priority=priority,
        adapter=adapter,
        group=group,
    )


class Bench:
    """One engine over the fake runner, one server. After every call the scheduler's books must balance."""

    def __init__(self, eos_ids: tuple[int, ...] = (EOS,), **options: Any) -> None:
        self.config = engine_config(**options)
        self.runner = FakeRunner.of(self.config)
        self.engine = Engine(self.config, self.runner, VOCAB, eos_ids)
        self.updates: dict[str, list[Update]] = {}

    def add(self, *requests: Request) -> None:
        self._keep(self.engine.add(b"server", requests))

    def abort(self, *names: str) -> None:
        self._keep(self.engine.abort(b"server", names))

    def reconfigure(self, **settings: Any) -> None:
        self.config = self.engine.reconfigure(settings)
        self.runner.reconfigure(self.config)
        self.engine.check_integrity()

    def step(self) -> list[ScheduledRequest]:
        """What ran."""
        before = len(self.runner.steps)
        self._keep(self.engine.step().get(b"server", []))
        return self.runner.steps[-1] if len(self.runner.steps) > before else []

    def run(self, limit: int = 5_000) -> None:
        for _ in range(limit):
            if not self.engine.has_work:
                return
            assert self.step(), "work, but nothing was scheduled"
        raise AssertionError(f"not done after {limit} steps")

    def tokens(self, name: str) -> list[int]:
        return [token for update in self.updates.get(name, []) for token in update.token_ids]

    def last(self, name: str) -> Update:
        return self.updates[name][-1]

    def _keep(self, updates: list[Update]) -> None:
        for update in updates:
            earlier = self.updates.setdefault(update.request_id, [])
            assert not earlier or earlier[-1].finish_reason is None, "an update after the end"
            earlier.append(update)
        self.engine.check_integrity()


@dataclass
class FakeRunner:
    """Stores (position, token, weights) where keys and values would lie; reads every history back before it answers."""

    num_blocks: int
    block_tokens: int
    max_batch_tokens: int
    max_sequences: int
    steps: list[list[ScheduledRequest]] = field(default_factory=list)
    fail_next: int = 0
    overhang: int = 0
    """Decodes that may go on above a lowered budget."""
    tokens_per_step: int = 1

    @classmethod
    def of(cls, config: EngineConfig) -> "FakeRunner":
        return cls(config.num_blocks, config.block_tokens, config.max_batch_tokens, config.max_sequences)

    def __post_init__(self) -> None:
        self.pool: list[list[tuple[int, int, str] | None]] = [
            [None] * self.block_tokens for _ in range(self.num_blocks)
        ]
        self.slots: dict[int, tuple[SlotStart, list[int]]] = {}
        self.adapters: dict[int, str] = {}
        self.tokens_computed = 0

    def reconfigure(self, config: EngineConfig) -> None:
        self.max_batch_tokens, self.max_sequences = config.max_batch_tokens, config.max_sequences
        self.overhang = len(self.slots)

    def step(self, scheduled: list[ScheduledRequest]) -> list[StepOutput]:
        if self.fail_next:
            self.fail_next -= 1
            raise RuntimeError("the fake was told to fail")
        self.check_shape(scheduled)
        self.steps.append(scheduled)
        for share in scheduled:
            if share.start is not None:
                assert share.slot not in self.slots, f"slot {share.slot} was not freed"
                self.slots[share.slot] = (share.start, list(share.start.token_ids))
            self.store(share)
        for share in scheduled:
            self.copy(share)
        return [self.answer(share) for share in scheduled]

    def free(self, slot: int) -> None:
        self.slots.pop(slot, None)

    def load_adapter(self, key: int, folder: str) -> AdapterFacts:
        """Its weights are the folder's name; one called "broken" does not fit, "faulty" finds a fault of ours."""
        if folder == "broken":
            raise CheckpointError(folder, "is no adapter of this model")
        if folder == "faulty":
            raise RuntimeError("a fault in the reader")
        assert key not in self.adapters
        self.adapters[key] = folder
        return AdapterFacts(sha256(folder.encode()).digest(), 8, 1000)

    def unload_adapter(self, key: int) -> None:
        assert all(start.adapter != key for start, _ in self.slots.values()), "unloaded in use"
        del self.adapters[key]

    def weights(self, start: SlotStart) -> str:
        return self.adapters[start.adapter] if start.adapter else ""

    def check_shape(self, scheduled: list[ScheduledRequest]) -> None:
        allowed = max(self.max_batch_tokens, min(self.overhang, len(scheduled)))
        assert sum(share.num_tokens for share in scheduled) <= allowed, "over budget"
        assert len({share.slot for share in scheduled}) == len(scheduled)
        begun = {share.slot for share in scheduled if share.start is not None}
        assert len(scheduled) <= self.max_sequences or not begun, "too many run"
        assert all(slot < self.max_sequences for slot in begun)
        kinds = [share.num_tokens == 1 and share.samples for share in scheduled]
        assert kinds == sorted(kinds, reverse=True), "decodes come first"

    def store(self, share: ScheduledRequest) -> None:
        start, tokens = self.slots[share.slot]
        weights = self.weights(start)
        end = share.num_computed + share.num_tokens
        assert share.samples == (end == len(tokens))
        assert len(share.block_table) >= -(-end // self.block_tokens)
        for position in range(share.num_computed, end):
            block, offset = share.block_table[position // self.block_tokens], position % self.block_tokens
            self.pool[block][offset] = (position, tokens[position], weights)
        self.tokens_computed += share.num_tokens

    def copy(self, share: ScheduledRequest) -> None:
        if share.copy_from >= 0:
            count = share.num_computed % self.block_tokens
            assert count, "a copy of nothing"
            target = share.block_table[share.num_computed // self.block_tokens]
            assert target not in {other.copy_from for other in self.steps[-1]}, "a copy of a copy"
            self.pool[target][:count] = self.pool[share.copy_from][:count]

    def answer(self, share: ScheduledRequest) -> StepOutput:
        start, tokens = self.slots[share.slot]
        end = share.num_computed + share.num_tokens
        seen = [
            self.pool[share.block_table[position // self.block_tokens]][position % self.block_tokens]
            for position in range(end)
        ]
        weights = self.weights(start)
        assert seen == [(position, tokens[position], weights) for position in range(end)], (
            f"{start.request_id} reads the KV of others"
        )
        prompt_logprobs = None
        if start.sampling.prompt_logprobs is not None:
            following = tokens[share.num_computed + 1 : min(end + 1, start.prompt_length)]
            prompt_logprobs = [TokenLogprobs(token, -1.0, 1, [token], [-1.0]) for token in following]
        if not share.samples:
            return StepOutput(share.slot, prompt_logprobs=prompt_logprobs)
        new = continuation(tokens, self.tokens_per_step, weights)
        tokens.extend(new)
        return StepOutput(share.slot, new, None, prompt_logprobs)
