"""Limits that no request can meet."""

from collections.abc import Iterator

from ...diagnostics import Diagnostic
from ..facts import Facts


def default_beyond_context(facts: Facts) -> Iterator[Diagnostic]:
    default, context = facts.profile.limits.max_tokens.default, facts.profile.model.max_context
    if default is not None and context != "auto" and default >= context:
        fact = f"{default} tokens of output leave no room for a prompt in {context}"
        yield facts.error("AP0232", "limits.max_tokens.default", fact, "lower it, or raise model.max_context")


def queue_below_context(facts: Facts) -> Iterator[Diagnostic]:
    tokens, context = facts.profile.limits.queue.tokens, facts.profile.model.max_context
    if tokens is not None and context != "auto" and tokens < context:
        fact = f"{tokens} waiting tokens, one prompt may have {context} and would never be let in"
        yield facts.warning("AP0233", "limits.queue.tokens", fact, f"write at least {context}")
