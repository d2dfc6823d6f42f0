"""Where in a command line the engine starts, and which engine release an image names."""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from appliance.migrations.argv import name_of
from appliance.migrations.canonical import Entrypoint, Kind, OptionSite, ReleaseHint, Span
from appliance.migrations.catalogue import catalogue
from appliance.migrations.release import Release
from appliance.migrations.values import SECRETS

_MODULE = re.compile(r"vllm\.entrypoints\.(?:openai\.)?api_server\Z")
_DYNAMO = "dynamo.vllm"
# the engine's own server, and KAITO's around it
_SCRIPT = re.compile(r"(?:\A|/)vllm/(?:entrypoints/(?:openai/)?api_server|inference_api)\.py\Z")
_SHELLS = re.compile(r"(?:\A|/)(?:ba|da|z|k)?sh\Z")
_IMAGE = re.compile(r"([\w./-]*vllm[\w./-]*):((?:[\w.]*vllm[-_]?)?v?(\d+\.\d+(?:\.\d+)?)?[\w.+-]*)", re.IGNORECASE)
TAGGED = re.compile(r"(?<![\w./-])[\w./-]*vllm[\w.-]*:[\w.-]+")
"""An image of the engine with its tag, in any text."""
_DEFAULT = re.compile(r"\$\{\w+:?-([^}]*)\}")
_VARIABLE = re.compile(r"\$[({]?(\w+)(?::?-([^}]+))?[)}]?")
_RUN_IMAGE = re.compile(r"(?:[\w.:-]+/)*vllm(?:-[\w-]+|/[\w-]+)?(?::[\w.${}:-]+)?(?:@sha256:\w+)?")
_OWN_TAGS = re.compile(r"\bai-dynamo/|\blmcache/|\bllm-scaler")
_INSIDE = re.compile(r"vllm[-_]v?(\d+\.\d+(?:\.\d+)?)")
PIN = re.compile(
    r"\bvllm(?:(?:\[[\w,-]*\])?\s*[=~]=\s*v?(?P<pinned>[0-9][\w.]*)|-(?P<wheel>\d+\.\d+[\w.]*)(?:\+[\w.]*)?-[\w.-]*\.whl)"
)
# Options that no other server of models has.
_MARKS = frozenset(
    {
        "disable-log-requests",
        "download-dir",
        "enable-chunked-prefill",
        "enable-expert-parallel",
        "enable-prefix-caching",
        "enforce-eager",
        "gpu-memory-utilization",
        "kv-cache-dtype",
        "max-model-len",
        "max-num-batched-tokens",
        "max-num-seqs",
        "pipeline-parallel-size",
        "reasoning-parser",
        "served-model-name",
        "swap-space",
        "tensor-parallel-size",
        "tool-call-parser",
        "trust-remote-code",
    }
)
_ENGINE_ENV = re.compile(
    r"VLLM|HF_|HUGGING|CUDA|NCCL|ROC|HIP|HSA|AITER|TORCH|PYTORCH|RAY_|LMCACHE|OMP_|TRITON|FLASH|TPU|XLA|NIXL|UCX|SAFE"
)
_OTHERS = re.compile(
    r"sglang|text-generation|tensorrt|lmdeploy|ollama|llama[._-]?cpp|tgi\b|triton|infinity"
    r"|production-stack/router|semantic-router|aibrix/(?:gateway|controller|metadata)",
    re.IGNORECASE,
)


def serves(words: Sequence[str]) -> tuple[int, Entrypoint] | None:
    """The index behind `vllm serve` or the server's module; None when the words start neither."""
    for index, word in enumerate(words):
        following = words[index + 1] if index + 1 < len(words) else ""
        if following == "serve" and (_program(word) or _brought(word, words[index + 2 :])):
            return index + 2, Entrypoint.SERVE
        if (word == "-m" and _MODULE.search(following)) or (word == "-m" and following == "vllm.entrypoints.cli.main"):
            serve = words[index + 2 : index + 3] == ["serve"]
            return index + 2 + serve, Entrypoint.SERVE if serve else Entrypoint.API_SERVER
        if word == "-m" and following == _DYNAMO:
            return index + 2, Entrypoint.DYNAMO
        if _SCRIPT.search(word):
            return index + 1, Entrypoint.API_SERVER
        if _RUN_IMAGE.fullmatch(word) and "run" in words[:index] and words[index - 1] not in ("--name", "-v"):
            return index + 1, Entrypoint.IMAGE
    return None


def _program(word: str) -> bool:
    return word == "vllm" or word.endswith(("/vllm", "vllm.entrypoints.cli.main"))


def _brought(word: str, options: Sequence[str]) -> bool:
    """A variable that holds the program: `"$VLLM_BIN" serve`, or any that takes the engine's options."""
    return word[:1] == "$" and ("vllm" in word.lower() or engine_options(options))


def other_command(words: Sequence[str]) -> bool:
    """Whether the engine's program is started for something else: `vllm bench ...`, `vllm run-batch ...`."""
    pairs = pairwise(words)
    return any(_program(word) and re.match(r"[a-z]", next_) is not None and next_ != "serve" for word, next_ in pairs)


def script(words: Sequence[str]) -> int | None:
    """The index of the text that `sh -c` or `eval` runs."""
    for index, word in enumerate(words[:-1]):
        shell = index == 0 or any(_SHELLS.search(before) for before in words[:index])
        if re.fullmatch(r"-[a-z]*c", word) and shell:
            return index + 2 if words[index + 1] == "--" and index + 2 < len(words) else index + 1
        if word == "eval":
            return index + 1
    return None


def counts_itself(image: str) -> bool:
    """Whether the tags of an image are releases of what is built around the engine."""
    return _OWN_TAGS.search(image) is not None


def engine_image(image: str) -> bool:
    return "vllm" in image.lower() and not _OTHERS.search(image)


def other_engine(text: str) -> bool:
    return _OTHERS.search(text) is not None


def engine_options(words: Iterable[str]) -> bool:
    """Whether the words look like this engine's options although nothing names it."""
    return any(word.startswith("--") and name_of(word.partition("=")[0]).name in _MARKS for word in words)


def engine_variable(name: str) -> bool:
    return bool(_ENGINE_ENV.match(name)) or name in SECRETS or name in catalogue().env


def engine_keys(names: Iterable[str]) -> int:
    """How many of the keys are options that only this engine has."""
    return sum(name_of("--" + name).name in _MARKS for name in names)


def image_hint(image: str, where: Span) -> ReleaseHint | None:
    """What an image's tag says about the release; None for another image."""
    image = _DEFAULT.sub(r"\1", image)
    found = _IMAGE.search(image)
    if found is None:
        return None
    inside = _INSIDE.search(image)
    version = inside[1] if inside else found[3]
    known = Release.parse(version) if (version and found[2].lstrip("v").startswith(version)) or inside else None
    known = known if known and known.major < 2 and (inside or not counts_itself(image)) else None
    return ReleaseHint(found.group().lstrip("/").rstrip(":"), known, where, "image tag")


def pin_hint(text: str, where: Span) -> ReleaseHint | None:
    found = PIN.search(text)
    return (
        ReleaseHint(found.group(), Release.parse(found["pinned"] or found["wheel"]), where, "requirement")
        if found
        else None
    )


def model_of(sites: Iterable[OptionSite], around: Iterable[OptionSite] = ()) -> str | None:
    """The model a command line names, where the text or the variables around it tell."""
    named = {site.name: site.value for site in around if isinstance(site.value, str)}
    for site in sites:
        if site.name != "model" or site.kind is Kind.ENV or site.quirk is not None:
            continue
        if isinstance(site.value, str):
            return site.value
        variable = _VARIABLE.fullmatch(site.raw_value or "")
        known = variable and (named.get(variable[1]) or variable[2])
        if known:
            return str(known)
    return None
