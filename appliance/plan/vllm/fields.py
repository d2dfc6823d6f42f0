"""Every field of a profile that vLLM has an option for, as words of its command line. One line per field.

A field that nobody wrote says nothing here: vLLM's own default fits its platform and model better than ours would.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from appliance.migrations.argv import write_words
from appliance.profile import Profile
from appliance.profile.types import Tokens

DEFAULT_DRAFT = 5
"""Tokens guessed per step where the profile names none: as many as vLLM's own n-gram compares."""


@dataclass(frozen=True)
class Wish:
    """One field: its value, and whether the profile's text holds it."""

    profile: Profile
    value: Any
    written: bool


Words = Callable[[Wish], list[str]]


def option(name: str) -> Words:
    """The field's value is the option's value; auto, null and empty say nothing."""

    def write(wish: Wish) -> list[str]:
        value = list(wish.value) if isinstance(wish.value, tuple) else wish.value
        return write_words(name, value) if wish.written and value not in ("auto", "none", None, []) else []

    return write


def above_one(name: str) -> Words:
    return lambda wish: write_words(name, wish.value) if wish.value > 1 else []


def switch(name: str) -> Words:
    """A switch that is off unless it is asked for."""
    return lambda wish: [f"--{name}"] if wish.value else []


def _served_names(wish: Wish) -> list[str]:
    return ["--served-model-name", *(wish.value or (wish.profile.name,))]


def _weights(wish: Wish) -> list[str]:
    return ["--quantization", "int8_per_channel_weight_only"] if wish.value == "int8" else []


def _pool(wish: Wish) -> list[str]:
    """Of tokens: as many blocks as hold them. Bytes, and auto on a CPU, are the planner's."""
    if not isinstance(wish.value, Tokens):
        return []
    block = wish.profile.kv_cache.block_tokens
    words = ["--num-gpu-blocks-override", str(-(-wish.value.count // block))]
    written = "block_tokens" in wish.profile.kv_cache.model_fields_set
    return words if written else [*words, "--block-size", str(block)]


def _skipped(wish: Wish) -> list[str]:
    return ["--kv-cache-dtype-skip-layers", *map(str, wish.value)] if wish.value else []


def _speculation(wish: Wish) -> list[str]:
    asked = wish.profile.engine.speculation
    if asked.method == "none":
        return []
    low, high = asked.lookup_min, asked.lookup_max
    given = {
        "method": asked.method,
        "num_speculative_tokens": asked.max_tokens or DEFAULT_DRAFT,
        "prompt_lookup_min": low,
        "prompt_lookup_max": high,
    }
    return ["--speculative-config", json.dumps({key: value for key, value in given.items() if value is not None})]


def _tool_parser(wish: Wish) -> list[str]:
    return ["--tool-call-parser", wish.value, "--enable-auto-tool-choice"] if wish.value != "none" else []


def _reasoning_parser(wish: Wish) -> list[str]:
    return ["--reasoning-parser", wish.value] if wish.value != "none" else []


def _adapters(wish: Wish) -> list[str]:
    """The adapters themselves come and go while it runs."""
    return ["--enable-lora"] if wish.value else []


def _elastic(wish: Wish) -> list[str]:
    return ["--enable-elastic-ep", "--enable-eplb", "--data-parallel-backend", "ray"] if wish.value else []


FIELDS: dict[str, Words] = {
    "model.served_names": _served_names,
    "model.dtype": option("dtype"),
    "model.weights": _weights,
    "model.chat_template": option("chat-template"),
    "model.trust_remote_code": switch("trust-remote-code"),
    "model.adapters": _adapters,
    "kv_cache.dtype": option("kv-cache-dtype"),
    "kv_cache.size": _pool,
    "kv_cache.block_tokens": option("block-size"),
    "kv_cache.prefix_caching": option("enable-prefix-caching"),
    "kv_cache.skip_layers": _skipped,
    "kv_cache.mamba.mode": option("mamba-cache-mode"),
    "parallelism.tensor": above_one("tensor-parallel-size"),
    "parallelism.pipeline": above_one("pipeline-parallel-size"),
    "parallelism.expert.enabled": switch("enable-expert-parallel"),
    "parallelism.expert.elastic": _elastic,
    "engine.batching.max_sequences": option("max-num-seqs"),
    "engine.batching.max_tokens": option("max-num-batched-tokens"),
    "engine.batching.chunked_prefill": option("enable-chunked-prefill"),
    "engine.speculation.method": _speculation,
    "parsers.tool": _tool_parser,
    "parsers.reasoning": _reasoning_parser,
    "security.media.domains": option("allowed-media-domains"),
    "security.media.local_path": option("allowed-local-media-path"),
}
"""By path. Those that the planner fills in (model.source, model.max_context, memory) are in arguments.py."""
