"""What the scheduler and the runner say to each other each step. Ints only."""

from dataclasses import dataclass, field
from typing import Protocol

from appliance.engine.protocol import SamplingParams, TokenLogprobs


@dataclass(frozen=True)
class SlotStart:
    """What a slot is filled with when a request is admitted, and again when it resumes after preemption."""

    request_id: str
    token_ids: list[int]
    """Prompt, then every token generated so far."""
    prompt_length: int
    sampling: SamplingParams
    fallback_seed: int
    """Seeds the sampler where the request gave no seed."""
    adapter: int = 0
    """Key of a loaded adapter; 0 = the base model."""


@dataclass(frozen=True)
class AdapterFacts:
    """What the runner knows of an adapter it has loaded."""

    fingerprint: bytes
    """Equal for equal weights and settings only."""
    rank: int
    """The largest of its modules."""
    nbytes: int
    """Memory it takes."""


@dataclass(frozen=True)
class ScheduledRequest:
    """One request's share of one step: tokens [num_computed, num_computed + num_tokens) of its sequence."""

    slot: int
    """Row the request owns from admission to its end, in [0, max_sequences)."""
    num_computed: int
    """Tokens whose KV is in the cache before this step."""
    num_tokens: int
    block_table: list[int]
    """Blocks that cover num_computed + num_tokens tokens, in order."""
    samples: bool
    """The share reaches the end of the known tokens: a new token is wanted."""
    start: SlotStart | None = None
    """Set when the slot is (re)filled in this step."""
    copy_from: int = -1
    """Block that begins like the one this share begins in: in every layer, once the step's own KV is stored, the
    tokens before num_computed are copied from it. -1 = none."""

    def __post_init__(self) -> None:
        assert self.slot >= 0 and self.num_computed >= 0 and self.num_tokens > 0


@dataclass(frozen=True)
class StepOutput:
    """What the step produced for one scheduled request, in the order of the schedule."""

    slot: int
    token_ids: list[int] = field(default_factory=list)
    """Empty for a prefill chunk that does not reach the end."""
    logprobs: list[TokenLogprobs] | None = None
    """One per token id, where the request asked for log-probabilities."""
    prompt_logprobs: list[TokenLogprobs] | None = None
    """For prompt tokens [num_computed + 1, num_computed + num_tokens + 1) of the prompt, where asked."""


class Runner(Protocol):
    """The tensor half as the scheduler sees it: `engine.runner.runner.PagedRunner`, or a fake in tests."""

    def step(self, scheduled: list[ScheduledRequest]) -> list[StepOutput]:
        """Runs one forward pass. Decodes (num_tokens == 1, samples) come first in `scheduled`."""
        ...

    def free(self, slot: int) -> None:
        """The request left; its row may be filled again."""
        ...

    def load_adapter(self, key: int, folder: str) -> AdapterFacts:
        """Makes it resident under a new `key`, for the next step; CheckpointError where it does not fit."""
        ...

    def unload_adapter(self, key: int) -> None:
        """No slot uses it any more."""
        ...
