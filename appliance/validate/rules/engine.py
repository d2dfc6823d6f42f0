"""Batching, speculation and backend options that contradict each other."""

from collections.abc import Iterator

from ...diagnostics import Diagnostic
from ..facts import Facts


def step_below_sequences(facts: Facts) -> Iterator[Diagnostic]:
    batching = facts.profile.engine.batching
    tokens, sequences = batching.max_tokens, batching.max_sequences
    if tokens != "auto" and sequences != "auto" and tokens < sequences:
        fact = f"{tokens} tokens per step, {sequences} running sequences need one token each"
        yield facts.error("AP0225", "engine.batching.max_tokens", fact, f"write at least {sequences}")


def step_below_context(facts: Facts) -> Iterator[Diagnostic]:
    batching, context = facts.profile.engine.batching, facts.profile.model.max_context
    tokens = batching.max_tokens
    if not batching.chunked_prefill and tokens != "auto" and context != "auto" and tokens < context:
        fact = f"{tokens} tokens per step, without chunked prefill a prompt of {context} never fits one step"
        yield facts.error("AP0225", "engine.batching.max_tokens", fact, "set chunked_prefill: true, or enlarge it")


def speculation_fields(facts: Facts) -> Iterator[Diagnostic]:
    speculation = facts.profile.engine.speculation
    fields = ("max_tokens", "lookup_min", "lookup_max")
    for name in fields:
        if speculation.method == "none" and getattr(speculation, name) is not None:
            fact = "has no effect while method is none"
            yield facts.error("AP0226", f"engine.speculation.{name}", fact, "remove it, or set method: ngram")
    low, high = speculation.lookup_min, speculation.lookup_max
    if low is not None and high is not None and low > high:
        yield facts.error("AP0226", "engine.speculation.lookup_min", f"{low} is above lookup_max {high}", "swap them")


def options_without_backend(facts: Facts) -> Iterator[Diagnostic]:
    for name in ("command", "options"):
        path = f"engine.vllm.{name}"
        if (
            facts.profile.engine.backend == "native"
            and facts.written(path)
            and facts.value(path) not in ({}, ("vllm",))
        ):
            yield facts.error("AP0227", path, "has no effect with backend native", "remove it, or set backend: vllm")
