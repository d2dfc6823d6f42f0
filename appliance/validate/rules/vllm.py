"""Backend vllm: its options against the catalogue of its release, and against the profile's own fields."""

from collections.abc import Iterator
from functools import cache
from pathlib import PurePosixPath
from typing import Any

from ...diagnostics import Diagnostic, Severity
from ...profile.fields import leaves
from ...profile.source import parse_source
from ..facts import Facts

OURS = {
    "host": "security.bind",
    "port": "security.bind",
    "uds": "security.bind",
    "root-path": "security.bind",
    "api-key": "security.api_keys",
    "model": "model.source",
    "model-tag": "model.source",
    "served-model-name": "model.served_names",
    "lora-modules": "model.adapters",
    "enable-lora": "model.adapters",
    "allowed-origins": "security.cors.origins",
    "allowed-methods": "security.cors.origins",
    "allowed-headers": "security.cors.origins",
    "allow-credentials": "security.cors.credentials",
    "ssl-certfile": "security.tls",
    "ssl-keyfile": "security.tls",
    "ssl-ca-certs": "security.tls",
    "ssl-cert-reqs": "security.tls",
    "ssl-ciphers": "security.tls",
    "enable-ssl-refresh": "security.tls",
    "max-num-queued-reqs": "limits.queue.requests",
    "max-num-queued-tokens": "limits.queue.tokens",
    "api-server-count": "parallelism.api_servers",
    "nnodes": "parallelism.nodes",
    "node-rank": "parallelism.nodes",
    "headless": "parallelism.nodes",
    "uvicorn-log-level": "observability.log_level",
    "disable-uvicorn-access-log": "observability.access_log",
    "disable-access-log-for-endpoints": "observability.access_log",
    "disable-fastapi-docs": "engine.backend",
    "fail-on-environ-validation": "engine.backend",
    "config": "engine.vllm.options",
    "hf-token": "model.source",
    "grpc": "security.bind",
    "grpc-port": "security.bind",
}
"""What the appliance itself decides: option -> where the profile says it."""
WIDER: dict[str, tuple[Any, ...]] = {
    "tool-call-parser": ("hf",),
    "reasoning-parser": ("hf",),
    "speculative-config": (),
    "quantization": (),
    "data-parallel-size": (),
    "logging-config": (),
    "dtype": ("auto", "float32", "bfloat16", "float16"),
}
"""Options that take more than their field can say, and which values the field can."""


def options(facts: Facts) -> Iterator[Diagnostic]:
    """The appliance's own are refused by name; all others go through the rules and checks of `migrate`, together."""
    from appliance.migrations.argv import Word, name_of, read_words, write_words
    from appliance.migrations.canonical import Span
    from appliance.migrations.change import Part
    from appliance.migrations.plan import plan_changes
    from appliance.migrations.release import release

    if facts.profile.engine.backend != "vllm":
        return
    sites, origin = [], {}
    for written, value in facts.profile.engine.vllm.options.items():
        named = name_of(f"--{written.lstrip('-')}")
        field = field_for(named.name, value)
        if field:
            fix = f"write {field}" if field not in ("engine.backend", "engine.vllm.options") else "remove it"
            fact = f"the appliance itself decides --{named.name}"
            yield _at(facts, written, "AP0228", Severity.ERROR, fact, fix)
            continue
        plain: Any = list(value) if isinstance(value, tuple) else value
        plain = not plain if named.negative and isinstance(plain, bool) else plain
        texts = write_words(named.name, plain, named.path)
        for site in read_words([Word(text, Span(0, len(text))) for text in texts], model=False):
            sites.append(site)
            origin[id(site)] = written
    target = release(facts.profile.release)
    for change in plan_changes(sites, target, target, comments=False):
        if change.site is not None and change.part is not Part.SECURITY and change.severity is not Severity.NOTE:
            fix = change.way_out or f"`appliance explain {change.code}` says what to write instead"
            yield _at(facts, origin[id(change.site)], change.code, change.severity, change.message, fix)


def _at(facts: Facts, written: str, code: str, severity: Severity, fact: str, fix: str) -> Diagnostic:
    position = facts.document.position(("engine", "vllm", "options", written))
    return Diagnostic(code, severity, position, f"engine.vllm.options.{written}", fact, fix)


def field_for(name: str, value: Any) -> str | None:
    """The field that says the same; None for an option that only this place can set."""
    if name in OURS:
        return OURS[name]
    found = _fields().get(name)
    return None if found is None or (name in WIDER and value not in WIDER[name]) else found


@cache
def _fields() -> dict[str, str]:
    return {field.option: path for path, field in leaves().items() if field.option}


def readable(facts: Facts) -> Iterator[Diagnostic]:
    """vLLM dropped GGUF before the releases served here."""
    source = parse_source(facts.profile.model.source)
    gguf = source.kind == "gguf" or PurePosixPath(source.path).suffix == ".gguf"
    if facts.profile.engine.backend == "vllm" and gguf:
        fact = "a .gguf file, and vLLM of this release reads safetensors only"
        yield facts.error(
            "AP0229", "model.source", fact, "name a folder or a repository, or write engine.backend: native"
        )


def nodes(facts: Facts) -> Iterator[Diagnostic]:
    profile = facts.profile
    spread = profile.parallelism
    if profile.engine.backend != "vllm" or spread.nodes == 1:
        return
    options = profile.engine.vllm.options
    ray = options.get("distributed-executor-backend") == "ray"
    if not ray and "master-addr" not in options:
        fact = f"{spread.nodes} machines meet at the first one's address, which no option names"
        fix = "write engine.vllm.options: {master-addr: ADDRESS}, or distributed-executor-backend: ray"
        yield facts.error("AP0223", "parallelism.nodes", fact, fix)
    if not ray and spread.tensor * spread.pipeline % spread.nodes:
        fact = f"{spread.nodes} machines cannot share {spread.tensor} x {spread.pipeline} devices evenly"
        yield facts.error("AP0223", "parallelism.nodes", fact, "make tensor x pipeline a multiple of it")
    if spread.data > 1 and not spread.expert.enabled:
        fact = f"{spread.data} copies over {spread.nodes} machines each"
        yield facts.error("AP0223", "parallelism.data", fact, "write 1, and run one appliance per copy")


def elastic(facts: Facts) -> Iterator[Diagnostic]:
    """What vLLM's elastic expert parallelism cannot go with."""
    profile = facts.profile
    if profile.engine.backend == "vllm" and profile.parallelism.expert.elastic and profile.parallelism.pipeline > 1:
        fact = "vLLM changes the number of expert workers in one pipeline stage only"
        yield facts.error("AP0222", "parallelism.expert.elastic", fact, "write parallelism.pipeline: 1")
