"""Fields and values that the schema knows and no part of this appliance carries out yet: refused, never ignored.

A part that arrives takes its line away here and names its reader in honoured.py.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from appliance.kernels.kv import FORMATS

from ..diagnostics import Diagnostic
from ..profile.quoting import printable
from .facts import Facts

Test = Callable[[Any], bool]


@dataclass(frozen=True)
class Missing:
    path: str
    refused: Test
    part: str
    """What does not exist yet; completes "this appliance has no ... yet"."""
    instead: str
    backends: tuple[str, ...] = ("native", "vllm")
    """Those that lack it; a field that only one of them lacks has a reader in the other."""


def missing_with(backend: str) -> dict[str, Missing]:
    """By path."""
    return {missing.path: missing for missing in NOT_YET if backend in missing.backends}


def other_than(*allowed: Any) -> Test:
    return lambda value: value not in allowed


def demanded(value: Any) -> bool:
    return value in ("on", "required")


def above_one(value: Any) -> bool:
    return bool(value > 1)


def endpoint(name: str, part: str, *backends: str) -> Missing:
    instead = "write auto (served as soon as it exists) or off"
    return Missing(f"endpoints.{name}", demanded, part, instead, backends or ("native", "vllm"))


NATIVE, VLLM = ("native",), ("vllm",)
ACCELERATORS = "engine for accelerators"
MEDIA = "models that take images or other media"
ONE_PROCESS = "engine over several devices or machines"
NGRAM = "speculation"
TLS = "encryption of its own"

NOT_YET: tuple[Missing, ...] = (
    Missing("model.weights", other_than("auto"), "choice of weight formats", "write auto", NATIVE),
    Missing("model.weights", lambda value: value == "int4", "way to make 4-bit weights in vLLM", "write int8", VLLM),
    Missing("model.trust_remote_code", bool, "way to run a checkpoint's own code", "write false", NATIVE),
    Missing("hardware.platform", other_than("auto", "cpu"), ACCELERATORS, "write auto or cpu", NATIVE),
    Missing("hardware.devices", other_than("auto", 1, (0,)), ONE_PROCESS, "write auto", NATIVE),
    Missing(
        "kv_cache.dtype",
        other_than("auto", *FORMATS),
        "KV cache in this format",
        f"one of auto, {', '.join(FORMATS)}",
        NATIVE,
    ),
    Missing("kv_cache.dtype", lambda value: value == "float32", "such KV cache in vLLM", "write auto", VLLM),
    Missing("kv_cache.skip_layers", bool, "KV formats that differ by layer", "remove it", NATIVE),
    Missing("kv_cache.mamba.mode", other_than("none"), "state-space layers", "write none", NATIVE),
    Missing("parallelism.tensor", above_one, "tensor parallelism", "write 1", NATIVE),
    Missing("parallelism.pipeline", above_one, "pipeline parallelism", "write 1", NATIVE),
    Missing("parallelism.nodes", above_one, ONE_PROCESS, "write 1", NATIVE),
    Missing("parallelism.expert.enabled", bool, "expert parallelism", "write false", NATIVE),
    Missing("parallelism.expert.elastic", bool, "expert parallelism", "write false", NATIVE),
    Missing("engine.speculation.method", other_than("none"), NGRAM, "write none", NATIVE),
    Missing("engine.speculation.max_tokens", other_than(None), NGRAM, "remove it", NATIVE),
    Missing("engine.speculation.lookup_min", other_than(None), NGRAM, "remove it", NATIVE),
    Missing("engine.speculation.lookup_max", other_than(None), NGRAM, "remove it", NATIVE),
    endpoint("responses", "/v1/responses", "native"),
    endpoint("messages", "/v1/messages", "native"),
    endpoint("embeddings", "/v1/embeddings", "native"),
    endpoint("transcriptions", "/v1/audio/transcriptions", "native"),
    endpoint("decisions", "/v1/decisions"),
    endpoint("console", "web console"),
    Missing("parsers.tool", other_than("none"), "parser of tool calls", "write none", NATIVE),
    Missing("parsers.reasoning", other_than("none"), "parser of reasoning", "write none", NATIVE),
    Missing("security.media.formats", other_than("raster"), MEDIA, "remove it", NATIVE),
    Missing("security.media.domains", bool, MEDIA, "remove it", NATIVE),
    Missing("security.media.local_path", other_than(None), MEDIA, "remove it", NATIVE),
    Missing("security.media.max_pixels", other_than(178_956_970), MEDIA, "remove it", NATIVE),
    Missing("security.tls", other_than(None), TLS, "remove it, and put a proxy in front"),
)


def not_yet(facts: Facts) -> Iterator[Diagnostic]:
    for missing in missing_with(facts.profile.engine.backend).values():
        value = facts.value(missing.path)
        if missing.refused(value):
            fact = f"{_shown(value)}this appliance has no {missing.part} yet"
            yield facts.error("AP0250", missing.path, fact, missing.instead)


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return f"{str(value).lower()} is known, but "
    return f"{printable(str(value))} is known, but " if isinstance(value, str | int) else ""
