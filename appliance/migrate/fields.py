"""Engine options -> fields of a profile: by the option that each field declares, and here where their values differ."""

import re
from collections.abc import Callable
from typing import Any

from appliance.profile.fields import leaves

Tree = dict[str, Any]
Writer = Callable[[Tree, Any], None]


class NoFieldError(Exception):
    """The profile has no way to say this; the text says why."""


def put(tree: Tree, path: str, value: Any) -> None:
    *above, last = path.split(".")
    for step in above:
        tree = tree.setdefault(step, {})
    tree[last] = value


def _to(path: str, convert: Callable[[Any], Any] = lambda value: value) -> Writer:
    return lambda tree, value: put(tree, path, convert(value))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _key(tree: Tree, value: Any) -> None:
    put(tree, "security.api_keys", [{"env": "APPLIANCE_API_KEY"}])


def _variable_key(tree: Tree, value: Any) -> None:
    if "api_keys" in tree.get("security", {}):
        raise NoFieldError("--api-key takes its place")
    put(tree, "security.api_keys", [{"env": "VLLM_API_KEY"}])


def _length(value: Any) -> Any:
    return "auto" if value in (-1, "-1", "auto", None) else value


def _devices(value: Any) -> list[int]:
    parts = str(value).split(",")
    if not all(part.strip().isdigit() for part in parts):
        raise NoFieldError("hardware.devices wants numbers")
    return [int(part) for part in parts]


def _adapters(value: Any) -> list[dict[str, str]]:
    found = []
    for item in _listed(value):
        name, _, path = str(item).partition("=")
        known = item if isinstance(item, dict) else {"name": name, "path": path}
        if not known.get("path"):
            raise NoFieldError("an adapter needs a name and a path")
        found.append({"name": str(known["name"]), "source": source_of(str(known["path"]))})
    return found


def _speculation(tree: Tree, value: Any) -> None:
    """Look-up in the prompt is the one method that a profile names."""
    given = value if isinstance(value, dict) else {}
    names = {
        "num_speculative_tokens": "max_tokens",
        "prompt_lookup_max": "lookup_max",
        "prompt_lookup_min": "lookup_min",
    }
    if given.get("method") not in ("ngram", "[ngram]") or set(given) - {"method", "model", *names}:
        raise NoFieldError("a profile speculates by look-up in the prompt (ngram) only")
    put(tree, "engine.speculation.method", "ngram")
    for old, new in names.items():
        if old in given:
            put(tree, f"engine.speculation.{new}", given[old])


def _size(value: Any) -> Any:
    for unit, factor in (("GiB", 2**30), ("MiB", 2**20)):
        if isinstance(value, int) and value % factor == 0:
            return f"{value // factor}{unit}"
    return value


def source_of(model: str) -> str:
    """`org/name` is a model of the hub, also as the default of a variable; what looks like a path stays one."""
    default = re.fullmatch(r"\$\{\w+:-(.*)\}", model)
    named = default[1] if default else model
    hub = re.fullmatch(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", named) and not named.endswith(".gguf")
    return f"hf:{model}" if hub else model


_CONVERTED: dict[str, Writer] = {
    "model": _to("model.source", lambda value: source_of(str(value))),
    "served-model-name": _to("model.served_names", _listed),
    "max-model-len": _to("model.max_context", _length),
    "lora-modules": _to("model.adapters", _adapters),
    "kv-cache-memory-bytes": _to("kv_cache.size", _size),
    "speculative-config": _speculation,
    "api-key": _key,
    "CUDA_VISIBLE_DEVICES": _to("hardware.devices", _devices),
    "VLLM_API_KEY": _variable_key,
    "allowed-origins": _to("security.cors.origins", _listed),
    "allowed-media-domains": _to("security.media.domains", _listed),
    "disable-uvicorn-access-log": _to("observability.access_log", lambda value: not value),
    "chat-template": _to("model.chat_template"),
}
# Two options make one field.
BIND = ("host", "port")
# What a field says by being there; options of vLLM where it is not.
IMPLIED = {"enable-auto-tool-choice": "parsers.tool", "enable-lora": "model.adapters"}
_TOKEN = "is read from the environment here, too: set it where the appliance runs"
# What needs no field, whatever the backend.
ANYWAY = {
    "disable-fastapi-docs": "there are no docs pages to take away",
    "HF_TOKEN": _TOKEN,
    "HUGGING_FACE_HUB_TOKEN": _TOKEN.replace("is read", "is called HF_TOKEN and read"),
}
_GRAPHS = "the native engine has no CUDA graphs"
# Options of vLLM that the native engine has no use for; any other one without a field needs vLLM itself.
IDLE = {
    "compilation-config": _GRAPHS,
    "cudagraph-capture-sizes": _GRAPHS,
    "enforce-eager": _GRAPHS,
    "max-cudagraph-capture-size": _GRAPHS,
    "attention-backend": "the native engine chooses its kernels itself",
    "optimization-level": "the native engine chooses its kernels itself",
    "async-scheduling": "the native engine schedules in one way",
    "disable-custom-all-reduce": "the native engine runs on one device",
    "disable-log-stats": "the numbers stand in /metrics, and no log repeats them",
    "enable-log-requests": "observability.access_log tells of requests, without their content",
    "download-dir": "models lie in the cache folder of the user",
    "seed": "a request carries its own seed",
}


def writers() -> dict[str, Writer]:
    """Every option that has a field of its own."""
    plain = {field.option: _to(path) for path, field in leaves().items() if field.option}
    return {name: writer for name, writer in (plain | _CONVERTED).items() if name not in BIND}
