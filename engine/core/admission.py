"""What is refused on arrival, because it could never run or would take others down with it."""

from collections.abc import Container
from dataclasses import dataclass

from appliance.engine.config import EngineConfig
from appliance.engine.protocol import Request


@dataclass(frozen=True)
class Limits:
    """Tokens."""

    vocab_size: int
    max_tokens: int
    """Prompt and output of one request together: the context, or what the KV pool holds if that is less."""
    max_prompt: int

    @classmethod
    def of(cls, config: EngineConfig, vocab_size: int) -> "Limits":
        longest = min(config.max_context, config.num_blocks * config.block_tokens)
        prompt = longest - 1 if config.chunked_prefill else min(longest - 1, config.max_batch_tokens)
        return cls(vocab_size, longest, prompt)


def refusal(request: Request, limits: Limits, adapters: Container[str]) -> str | None:
    """Why this engine cannot run the request, or None."""
    if request.adapter is not None and request.adapter not in adapters:
        return f"no adapter {request.adapter!r} is loaded"
    prompt, generated, sampling = request.prompt, request.generated, request.sampling
    if not prompt:
        return "the prompt is empty"
    if generated:
        known = len(prompt) + len(generated)
        if len(generated) >= sampling.max_tokens:
            return f"{len(generated)} tokens are generated and max_tokens is {sampling.max_tokens}: none is left"
        if known >= limits.max_tokens:
            return (
                f"prompt and generated tokens are {known}, this engine takes {limits.max_tokens - 1} "
                f"(context and KV pool hold {limits.max_tokens} tokens with at least one more generated)"
            )
    elif len(prompt) > limits.max_prompt:
        return (
            f"the prompt has {len(prompt)} tokens, this engine takes {limits.max_prompt} "
            f"(context and KV pool hold {limits.max_tokens} tokens with at least one generated)"
        )
    if sampling.max_tokens < 1:
        return f"max_tokens is {sampling.max_tokens}, at least 1 is generated"
    for name, ids in (
        ("prompt", prompt),
        ("generated", generated),
        ("logit_bias", sampling.logit_bias),
        ("logprob_token_ids", sampling.logprob_token_ids),
        ("stop_token_ids", sampling.stop_token_ids),
    ):
        if ids and not 0 <= min(ids) <= max(ids) < limits.vocab_size:
            seen = min(ids) if min(ids) < 0 else max(ids)
            return f"{name} names token {seen}, the vocabulary has {limits.vocab_size}"
    return None
