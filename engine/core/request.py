"""One sequence inside the engine, from its arrival to its end."""

from dataclasses import dataclass, field
from enum import Enum

from msgspec import structs

from appliance.engine import protocol
from appliance.engine.core.adapters import Adapter
from appliance.engine.protocol import SamplingParams, TokenLogprobs


class Status(Enum):
    WAITING = "waiting"
    RUNNING = "running"
    PREEMPTED = "preempted"
    """Waiting again: slot and blocks are given up, the tokens are kept and computed anew."""
    FINISHED = "finished"


@dataclass(slots=True, eq=False)
class RequestState:
    """Identity is the object itself. `owner` is the server that asked; ids are unique within an owner."""

    owner: bytes
    request_id: str
    token_ids: list[int]
    """Prompt, then every token generated so far."""
    prompt_length: int
    sampling: SamplingParams
    rank: tuple[int, int]
    """(priority, order of arrival): the lowest runs first, the highest is preempted first. Unique."""
    fallback_seed: int
    eos_ids: frozenset[int]
    """Empty where the request ignores the end of sequence."""
    stop_ids: frozenset[int]
    max_total: int
    """Tokens that end it, prompt included: what the engine promised when it took the request."""
    adapter: int = 0
    """Key of a loaded adapter; 0 = the base model."""
    adapter_fingerprint: bytes = b""
    cache_salt: str | None = None
    group: str = ""
    """With `owner`: those whose parts of blocks it may take; empty = nobody's."""
    arrival: float = 0.0

    status: Status = Status.WAITING
    slot: int = -1
    """Owned from admission to the end or preemption; -1 otherwise."""
    num_computed: int = 0
    """Tokens whose KV is in the cache."""
    needs_start: bool = True
    """The runner has yet to be told what the slot holds."""
    block_table: list[int] = field(default_factory=list)
    hashes: list[bytes] = field(default_factory=list)
    """Chained hashes of the full blocks of token_ids, as far as they were needed."""
    num_published: int = 0
    """Leading blocks that were offered to the prefix cache."""
    copy_from: int = -1
    """Block with the KV of its first tokens behind the whole blocks it found; copied in its first step. -1 = none."""
    deferred_on: bytes = b""
    """Hash of the block that a running request is about to compute for this one."""

    cached_tokens: int = 0
    preemptions: int = 0
    scheduled_at: float = 0.0
    first_token_at: float = 0.0
    prompt_logprobs: list[TokenLogprobs] = field(default_factory=list)
    reported: bool = False
    """The first update went out, perhaps from the engine this request was moved from."""

    @classmethod
    def from_message(
        cls,
        owner: bytes,
        message: protocol.Request,
        order: int,
        seed: int,
        eos_ids: tuple[int, ...],
        max_total: int,
        adapter: Adapter | None = None,
    ) -> "RequestState":
        """One that comes with generated tokens is as after a preemption."""
        sampling = message.sampling
        moved = bool(message.generated)
        return cls(
            owner=owner,
            request_id=message.request_id,
            token_ids=[*message.prompt, *message.generated],
            prompt_length=len(message.prompt),
            sampling=sampling,
            rank=(message.priority, order),
            fallback_seed=seed,
            eos_ids=frozenset(() if sampling.ignore_eos else eos_ids),
            stop_ids=frozenset(sampling.stop_token_ids),
            max_total=max_total,
            adapter=adapter.key if adapter else 0,
            adapter_fingerprint=adapter.facts.fingerprint if adapter else b"",
            cache_salt=message.cache_salt,
            group=message.group,
            arrival=message.arrival,
            status=Status.PREEMPTED if moved else Status.WAITING,
            reported=moved,
        )

    @property
    def num_uncomputed(self) -> int:
        return len(self.token_ids) - self.num_computed

    @property
    def num_generated(self) -> int:
        return len(self.token_ids) - self.prompt_length

    @property
    def reads_cache(self) -> bool:
        """Prompt log-probabilities need every prompt token computed, until they are reported."""
        return self.sampling.prompt_logprobs is None or self.reported

    @property
    def wanted_sampling(self) -> SamplingParams:
        """What is still to be reported, after a preemption too."""
        if self.reads_cache:
            return structs.replace(self.sampling, prompt_logprobs=None)
        return self.sampling

    def check(self) -> None:
        assert 0 < self.prompt_length <= len(self.token_ids)
        assert 0 <= self.num_computed <= len(self.token_ids)
        assert 0 <= self.cached_tokens < self.prompt_length
        assert len(self.prompt_logprobs) < self.prompt_length
        if self.status is Status.RUNNING:
            assert self.slot >= 0
        else:
            assert self.slot == -1 and not self.block_table and self.num_computed == 0 and self.copy_from == -1
