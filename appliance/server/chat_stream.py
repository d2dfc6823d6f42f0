"""A chat answer as server-sent chunks: the role first, one chunk per engine update, usage and [DONE] last."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from appliance.server.generation import Generation
from appliance.server.job import Job
from appliance.server.logprobs import Speller, chat_logprobs
from appliance.server.sse import DONE, event


async def chat_events(
    job: Job, updates: Generation, spell: Speller, role: str, echoed: str, logprobs: bool
) -> AsyncGenerator[bytes, None]:
    fields = job.fields
    options = fields.stream_options
    head = job.head("chat.completion.chunk")
    with_usage = bool(options and options.include_usage)
    continuous = bool(with_usage and options and options.continuous_usage_stats)

    def chunk(number: int, delta: dict[str, Any], **more: Any) -> bytes:
        choice = {"index": number, "delta": delta, "logprobs": None, "finish_reason": None, **more}
        value = {**head, "choices": [choice]}
        if with_usage:
            value["usage"] = job.usage([number]) if continuous else None
        return event(value)

    for number in range(len(job.choices)):
        if fields.return_token_ids:
            head["prompt_token_ids"] = job.prompts[0]
        yield chunk(number, {"role": role, "content": echoed})
        head.pop("prompt_token_ids", None)
    async with aclosing(job.pieces(updates)) as pieces:
        async for number, _, piece in pieces:
            wanted = piece.text or piece.finish_reason or (piece.token_ids and (logprobs or fields.return_token_ids))
            if not wanted:
                continue
            more: dict[str, Any] = {}
            if logprobs and piece.logprobs:
                more["logprobs"] = chat_logprobs(spell, piece.logprobs)
            if fields.return_token_ids:
                more["token_ids"] = piece.token_ids
            if piece.finish_reason:
                more |= {"finish_reason": piece.finish_reason, "stop_reason": piece.stop_reason}
            yield chunk(number, {"content": piece.text} if piece.text or not piece.finish_reason else {}, **more)
    if with_usage:
        yield event({**head, "choices": [], "usage": job.usage()})
    yield DONE
