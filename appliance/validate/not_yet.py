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


def other_than(*allowed: Any) -> Test:
    return lambda value: value not in allowed


def demanded(value: Any) -> bool:
    return value in ("on", "required")


def above_one(value: Any) -> bool:
    return bool(value > 1)


def endpoint(name: str, part: str) -> Missing:
    return Missing(f"endpoints.{name}", demanded, part, "write auto (served as soon as it exists) or off")


ACCELERATORS = "engine for accelerators"
MEDIA = "models that take images or other media"
ONE_PROCESS = "engine over several devices or machines"
VLLM = "backend vllm"
NGRAM = "speculation"
RELOAD = "reload of a running profile"
GITOPS = "following of git repositories"
TLS = "encryption of its own"

NOT_YET: tuple[Missing, ...] = (
    Missing("model.weights", other_than("auto"), "choice of weight formats", "write auto"),
    Missing("model.trust_remote_code", bool, "way to run a checkpoint's own code", "write false"),
    Missing("model.adapters", bool, "LoRA adapters", "remove it"),
    Missing("hardware.platform", other_than("auto", "cpu"), ACCELERATORS, "write auto or cpu"),
    Missing("hardware.devices", other_than("auto", 1, (0,)), ONE_PROCESS, "write auto"),
    Missing(
        "kv_cache.dtype", other_than("auto", *FORMATS), "KV cache in this format", f"one of auto, {', '.join(FORMATS)}"
    ),
    Missing("kv_cache.skip_layers", bool, "KV formats that differ by layer", "remove it"),
    Missing("kv_cache.mamba.mode", other_than("none"), "state-space layers", "write none"),
    Missing("parallelism.tensor", above_one, "tensor parallelism", "write 1"),
    Missing("parallelism.pipeline", above_one, "pipeline parallelism", "write 1"),
    Missing("parallelism.data", above_one, "data parallelism", "write 1"),
    Missing("parallelism.nodes", above_one, ONE_PROCESS, "write 1"),
    Missing("parallelism.api_servers", above_one, "second API server process", "write 1"),
    Missing("parallelism.expert.enabled", bool, "expert parallelism", "write false"),
    Missing("parallelism.expert.elastic", bool, "expert parallelism", "write false"),
    Missing("engine.backend", other_than("native"), VLLM, "write native"),
    Missing("engine.vllm.command", other_than(("vllm",)), VLLM, "remove it"),
    Missing("engine.vllm.options", bool, VLLM, "remove it"),
    Missing("engine.speculation.method", other_than("none"), NGRAM, "write none"),
    Missing("engine.speculation.max_tokens", other_than(None), NGRAM, "remove it"),
    Missing("engine.speculation.lookup_min", other_than(None), NGRAM, "remove it"),
    Missing("engine.speculation.lookup_max", other_than(None), NGRAM, "remove it"),
    endpoint("responses", "/v1/responses"),
    endpoint("messages", "/v1/messages"),
    endpoint("embeddings", "/v1/embeddings"),
    endpoint("transcriptions", "/v1/audio/transcriptions"),
    endpoint("decisions", "/v1/decisions"),
    endpoint("console", "web console"),
    Missing("parsers.tool", other_than("none"), "parser of tool calls", "write none"),
    Missing("parsers.reasoning", other_than("none"), "parser of reasoning", "write none"),
    Missing("security.media.formats", other_than("raster"), MEDIA, "remove it"),
    Missing("security.media.domains", bool, MEDIA, "remove it"),
    Missing("security.media.local_path", other_than(None), MEDIA, "remove it"),
    Missing("security.media.max_pixels", other_than(178_956_970), MEDIA, "remove it"),
    Missing("security.tls", other_than(None), TLS, "remove it, and put a proxy in front"),
    Missing("reload.watch", lambda value: value is True, RELOAD, "write auto (followed as soon as it exists) or false"),
    Missing("reload.strategy", other_than("auto"), RELOAD, "write auto"),
    Missing("reload.probe", lambda value: value is False, "start without a first real token", "write true"),
    Missing("gitops", other_than(None), GITOPS, "remove it"),
)


def not_yet(facts: Facts) -> Iterator[Diagnostic]:
    for missing in NOT_YET:
        value = facts.value(missing.path)
        if missing.refused(value):
            fact = f"{_shown(value)}this appliance has no {missing.part} yet"
            yield facts.error("AP0250", missing.path, fact, missing.instead)


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return f"{str(value).lower()} is known, but "
    return f"{printable(str(value))} is known, but " if isinstance(value, str | int) else ""
