"""Messages between API servers and one engine process: msgpack over ZeroMQ (engine ROUTER, servers DEALER).

Knows token ids and numbers, no text: prompts arrive tokenised, detokenising and stop strings are the server's work.
Times are `time.monotonic()` seconds, comparable between processes of one machine.
"""

from typing import Literal

import msgspec

FinishReason = Literal["stop", "length", "abort", "error"]
DRAINING = "the engine is draining"
"""`Update.error` of a request that arrived too late; the next engine takes it."""


class SamplingParams(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Already validated by the server. Neutral defaults: everything off."""

    max_tokens: int
    min_tokens: int = 0
    temperature: float = 1.0
    """0 = greedy."""
    top_k: int = 0
    """0 = off."""
    top_p: float = 1.0
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    logit_bias: dict[int, float] = {}
    seed: int | None = None
    stop_token_ids: tuple[int, ...] = ()
    ignore_eos: bool = False
    logprobs: int | None = None
    """How many of the likeliest tokens to report beside the sampled one; None = no logprobs; -1 = whole vocabulary."""
    logprob_token_ids: tuple[int, ...] = ()
    """Report exactly these ids (after the sampled one) instead of the most likely."""
    prompt_logprobs: int | None = None


class Request(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One sequence to generate. `n` completions are n requests with the same prompt."""

    request_id: str
    prompt: list[int]
    sampling: SamplingParams
    cache_salt: str | None = None
    priority: int = 0
    """Lower runs first; equal priorities in order of arrival."""
    arrival: float = 0.0
    adapter: str | None = None
    """Name of a loaded LoRA adapter; None = the model itself."""
    group: str = ""
    """Requests of one group, all from one client's call, share parts of blocks too; empty = whole ones only, so that
    nobody learns another's prompt token by token from the time that his own takes. Not to be guessed by others."""
    generated: list[int] = []
    """Tokens an earlier engine already produced and the client already has: the engine computes prompt and these again
    (as after a preemption) and goes on. Penalties, seeds and min_tokens count them as output; `sampling.max_tokens`
    counts them too. Updates carry only what is new: what a first update tells was told by the earlier engine."""


class Hello(msgspec.Struct, frozen=True, tag="hello"):
    """First message of a server after every (re)connection; answered by Ready."""


class Submit(msgspec.Struct, frozen=True, tag="submit"):
    """Requests that enter the waiting queue together, before the next step is scheduled."""

    requests: list[Request]


class Abort(msgspec.Struct, frozen=True, tag="abort"):
    request_ids: list[str]


class Drain(msgspec.Struct, frozen=True, tag="drain"):
    """Finish what runs and waits, take nothing new, then exit."""


class ResetPrefixCache(msgspec.Struct, frozen=True, tag="reset_prefix_cache"):
    """Forget every cached block that no request holds."""


class Reconfigure(msgspec.Struct, frozen=True, tag="reconfigure", kw_only=True):
    """New values for fields of EngineConfig named in RECONFIGURABLE; taken between two steps, all or none."""

    reference: int
    """Comes back in Reconfigured."""
    settings: dict[str, bool | int | str]


class LoadAdapter(msgspec.Struct, frozen=True, tag="load_adapter", kw_only=True):
    """Makes a PEFT LoRA adapter resident. A name that is taken leads to the new one from now on."""

    reference: int
    """Comes back in AdapterAnswer."""
    name: str
    path: str
    """Folder with adapter_config.json and adapter_model.safetensors."""


class UnloadAdapter(msgspec.Struct, frozen=True, tag="unload_adapter", kw_only=True):
    """New requests for it are refused at once; it goes when its last request has ended, and then comes the answer."""

    reference: int
    name: str


ToEngine = Hello | Submit | Abort | Drain | ResetPrefixCache | Reconfigure | LoadAdapter | UnloadAdapter


class TokenLogprobs(msgspec.Struct, frozen=True, array_like=True):
    """Natural-log probabilities of one position over the full vocabulary (before temperature and truncation)."""

    token_id: int
    logprob: float
    rank: int
    """1 = the most likely token of the vocabulary."""
    ids: list[int]
    """Most likely ids in order, or `logprob_token_ids` in their order."""
    logprobs: list[float]


class Update(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What one step brought one request. The last update of a request carries `finish_reason`."""

    request_id: str
    token_ids: list[int] = []
    logprobs: list[TokenLogprobs] | None = None
    prompt_logprobs: list[TokenLogprobs | None] | None = None
    """Once, with the first token: entry 0 is None, entry i describes prompt token i."""
    finish_reason: FinishReason | None = None
    stop_token_id: int | None = None
    """The stop token that ended it (also the last of token_ids), None when ended by length or end of sequence."""
    error: str | None = None
    cached_tokens: int = 0
    """Prompt tokens whose KV was found instead of computed; set on the first update."""
    preemptions: int = 0
    scheduled_at: float = 0.0
    """When the request first ran; set on the first update."""
    first_token_at: float = 0.0


class Outputs(msgspec.Struct, frozen=True, tag="outputs"):
    updates: list[Update]


class LoadedAdapter(msgspec.Struct, frozen=True):
    path: str
    fingerprint: str
    """64 hex digits over configuration and weights."""
    rank: int
    nbytes: int
    """Memory it takes."""


class Ready(msgspec.Struct, frozen=True, tag="ready", kw_only=True):
    """The engine has loaded its model and produced a real token."""

    instance: str
    """Random per engine boot: a changed value means a restarted engine."""
    generation: int
    pid: int
    architecture: str
    vocab_size: int
    max_context: int
    max_sequences: int
    block_tokens: int
    num_blocks: int
    kv_dtype: str
    weights_fingerprint: str
    boot_stages: list[tuple[str, float]]
    """(name, seconds) in order."""
    adapters: dict[str, LoadedAdapter] = {}
    """By the name that requests use."""

    @property
    def kv_tokens(self) -> int:
        """Tokens the KV pool holds."""
        return self.num_blocks * self.block_tokens


STEP_TOKEN_BOUNDS = (1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)
"""Upper ends, inclusive, of the ranges that `Stats.step_sizes` counts; a last range lies above them."""


class Stats(msgspec.Struct, frozen=True, tag="stats", kw_only=True):
    """Counters since boot and gauges now; sent to every server at most every 250 ms while they change."""

    running: int
    waiting: int
    kv_usage: float
    """0..1 share of blocks held by requests."""
    prefix_queries: int
    """Prompt tokens looked up."""
    prefix_hits: int
    """Prompt tokens found."""
    preemptions: int
    prompt_tokens: int
    """Prompt tokens computed (hits not counted)."""
    generation_tokens: int
    steps: int
    step_sizes: list[int]
    """How many of the steps computed so many tokens: one count for each of STEP_TOKEN_BOUNDS, one for more."""
    step_tokens: int
    """Tokens of all steps together: prompt tokens, decodes, and what preemption made compute again."""
    free_blocks: int
    cached_blocks: int
    free_slots: int


class Reconfigured(msgspec.Struct, frozen=True, tag="reconfigured", kw_only=True):
    """Sent to who asked; every server gets a new Ready with the new numbers."""

    reference: int
    error: str | None = None
    """Why nothing was changed; None = all of it holds from the next step on."""


class AdapterAnswer(msgspec.Struct, frozen=True, tag="adapter_answer", kw_only=True):
    """Sent to who asked; every server gets a new Ready as soon as the names have changed."""

    reference: int
    error: str | None = None
    """Why nothing was changed."""


FromEngine = Ready | Outputs | Stats | Reconfigured | AdapterAnswer

ENCODER = msgspec.msgpack.Encoder()
TO_ENGINE = msgspec.msgpack.Decoder(ToEngine)
FROM_ENGINE = msgspec.msgpack.Decoder(FromEngine)
