"""Request fields that are not served: dead ones, and ones whose part is not built. None is accepted and ignored."""

import logging
from collections.abc import Iterable
from typing import Any

from appliance.server.body import check_depth
from appliance.server.errors import bad_request, shown

logger = logging.getLogger("appliance.server")

DEAD = {
    "guided_json": 'structured_outputs: {"json": ...}',
    "guided_regex": 'structured_outputs: {"regex": ...}',
    "guided_choice": 'structured_outputs: {"choice": ...}',
    "guided_grammar": 'structured_outputs: {"grammar": ...}',
    "structural_tag": 'structured_outputs: {"structural_tag": ...}',
    "guided_decoding_backend": "nothing: the server chooses",
    "guided_whitespace_pattern": 'structured_outputs: {"whitespace_pattern": ...}',
    "guided_decoding_disable_fallback": "nothing: the server chooses",
    "guided_decoding_disable_any_whitespace": 'structured_outputs: {"disable_any_whitespace": ...}',
    "guided_decoding_disable_additional_properties": 'structured_outputs: {"disable_additional_properties": ...}',
    "functions": "tools",
    "function_call": "tool_choice",
}
"""Fields of older releases -> what replaced them."""

EMPTY: tuple[Any, ...] = (None, [], {})

NOT_SERVED: dict[str, tuple[tuple[Any, ...], str]] = {
    "tools": (EMPTY, "tool calls are not served by this release"),
    "tool_choice": ((None, "none"), "tool calls are not served by this release"),
    "parallel_tool_calls": ((None, True, False), ""),
    "response_format": ((None, {"type": "text"}), "structured output is not served by this release"),
    "structured_outputs": (EMPTY, "structured output is not served by this release"),
    "modalities": ((None, ["text"]), "only text comes out"),
    "audio": ((None,), "only text comes out"),
    "prediction": ((None,), "predicted outputs are not served"),
    "web_search_options": ((None,), "web search is not served"),
    "reasoning_effort": ((None,), "set chat_template_kwargs as this model's template expects"),
    "include_reasoning": ((None, True), "no reasoning parser is served by this release"),
    "thinking_token_budget": ((None,), "no reasoning parser is served by this release"),
    "use_beam_search": ((None, False), "beam search is not served"),
    "length_penalty": ((None, 1.0), "beam search is not served"),
    "early_stopping": ((None, False), "beam search is not served"),
    "best_of": ((None, 1), "ask for n completions and choose among them"),
    "suffix": ((None, ""), "no text after the answer is taken into account"),
    "prompt_embeds": ((None,), "send text or token ids in prompt"),
    "documents": (EMPTY, "put documents into messages or chat_template_kwargs"),
    "chat_template": ((None,), "the server's own template is used; the operator sets model.chat_template"),
    "mm_processor_kwargs": (EMPTY, "only text is taken"),
    "media_io_kwargs": (EMPTY, "only text is taken"),
    "allowed_token_ids": (EMPTY, "use logit_bias"),
    "bad_words": (EMPTY, "use logit_bias"),
    "spaces_between_special_tokens": ((None, True), "special tokens are written as the tokenizer writes them"),
    "truncate_prompt_tokens": ((None,), "shorten the prompt before sending it"),
    "watermarking": ((None, False), "watermarking is not served"),
    "kv_transfer_params": (EMPTY, "KV transfer is not served"),
    "ec_transfer_params": (EMPTY, "KV transfer is not served"),
    "vllm_xargs": (EMPTY, "no extra arguments are known"),
    "repetition_detection": ((None,), "use repetition_penalty"),
    "stream_interval": ((None, 1), "every step is streamed"),
    "return_token_offsets": ((None, False), "read text_offset of logprobs"),
    "return_prompt_text": ((None, False), "use echo"),
    "service_tier": ((None, "auto", "default"), "there is one tier"),
}
"""Field -> (values that ask for nothing, why any other is refused)."""

SCHEMA_FIELDS = ("tools", "response_format", "structured_outputs")


def check_fields(body: dict[str, Any], known: Iterable[str], schema_depth: int, logged: set[str]) -> None:
    """Raises ApiError 400 for what would be ignored otherwise.

    Names nobody knows are let through, as vLLM does, and logged once.
    """
    for name in SCHEMA_FIELDS:
        check_depth(body.get(name), schema_depth, name)
    for name, value in body.items():
        if name in DEAD:
            raise bad_request(f"{name} is gone; write {DEAD[name]} instead", name)
        if name in NOT_SERVED:
            neutral, reason = NOT_SERVED[name]
            if not any(type(value) is type(other) and value == other for other in _with_numbers(neutral)):
                raise bad_request(f"{name}: {shown(value)} is not served: {reason}", name)
    new = body.keys() - known - NOT_SERVED.keys() - logged
    # bounded: a client may invent names for ever
    if new and len(logged) < 256:
        logged |= new
        logger.debug("unknown request fields are ignored: %s", ", ".join(sorted(name[:60] for name in new)))


def _with_numbers(neutral: tuple[Any, ...]) -> tuple[Any, ...]:
    return (*neutral, *(int(value) for value in neutral if isinstance(value, float)))
