"""POST /v1/systemone: typed questions over a structured state, a probability for every answer."""

import asyncio
import logging
import time
import uuid
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ConfigDict
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from appliance.engine.decide import (
    Decision,
    DecisionError,
    NextTokenStrategy,
    Read,
    Strategy,
    UnavailableError,
    Verdict,
    parse_questions,
)
from appliance.engine.protocol import Request, TokenLogprobs
from appliance.engine.tokenizer import TextError, Tokenizer
from appliance.server.context import Context
from appliance.server.errors import ApiError, bad_request, json_response, parse
from appliance.server.job import request_id
from appliance.server.sampling import CacheSalt, Int64, RequestId

MEDIA = {"images": "image", "audio": "audio", "videos": "video"}


class DecisionRequest(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")

    model: str | None = None
    state: Any
    """Text, or any JSON."""
    questions: dict[str, dict[str, Any]]
    instructions: str | None = None
    images: list[str] | None = None
    audio: list[str] | None = None
    videos: list[str] | None = None
    chat_template_kwargs: dict[str, Any] | None = None
    cache_salt: CacheSalt = None
    priority: Int64 = 0
    request_id: RequestId = None


logger = logging.getLogger("appliance.server")


@lru_cache(maxsize=4)
def strategy_for(tokenizer: Tokenizer, max_context: int) -> Strategy | UnavailableError:
    """How this model decides, or why it cannot."""
    try:
        return NextTokenStrategy(tokenizer, max_context)
    except UnavailableError as error:
        return error


def start(context: Context) -> None:
    """The strategy is made at boot, so that a model that cannot decide is told then and not by the first client."""
    strategy = strategy_for(context.tokenizer, context.config.max_context)
    if isinstance(strategy, UnavailableError):
        logger.warning("/v1/systemone answers 501: %s", strategy)


async def handle(context: Context, http: HttpRequest | None, body: dict[str, Any]) -> Response:
    fields = parse(DecisionRequest, body)
    strategy = strategy_for(context.tokenizer, context.config.max_context)
    if isinstance(strategy, UnavailableError):
        raise ApiError(501, f"this model cannot serve /v1/systemone: {strategy}")
    model = context.served_name(fields.model)
    context.check_serving()
    identity = f"decision-{request_id(http, fields.request_id)}"
    reads = await _prepare(strategy, fields)
    verdicts, output_tokens = await _run(context, fields, identity, reads)
    answer = {
        "id": identity,
        "object": "structured_decision",
        "created": int(time.time()),
        "model": model,
        "answers": {read.question.id: verdict.answer for read, verdict in zip(reads, verdicts, strict=True)},
        "usage": {"input_tokens": sum(len(read.prompt) for read in reads), "output_tokens": output_tokens},
        "diagnostics": {
            read.question.id: {"label_mass": verdict.label_mass, "argmax_is_label": verdict.argmax_is_label}
            for read, verdict in zip(reads, verdicts, strict=True)
        },
    }
    return json_response(answer, headers={"X-Request-Id": identity})


async def _prepare(strategy: Strategy, fields: DecisionRequest) -> list[Read]:
    """The prompts, made in a thread: a long state is encoded once per question."""
    try:
        questions = parse_questions(fields.questions, strategy.limits)
        for name, modality in MEDIA.items():
            if getattr(fields, name) and modality not in strategy.modalities:
                raise DecisionError(f"{name}: this model does not take {modality} inputs", name)
        decision = Decision(fields.state, questions, fields.instructions, fields.chat_template_kwargs or {})
        return await asyncio.to_thread(strategy.reads, decision)
    except DecisionError as error:
        raise bad_request(error.message, error.param) from None
    except TextError as error:
        raise bad_request(str(error)) from None


async def _run(
    context: Context, fields: DecisionRequest, identity: str, reads: list[Read]
) -> tuple[list[Verdict], int]:
    """All reads in one submission, so that the engine computes what their prompts share once."""
    group = uuid.uuid4().hex
    now = time.monotonic()
    requests = [
        Request(
            request_id=f"{identity}-{number}-{group[:8]}",
            group=group,
            prompt=read.prompt,
            sampling=read.sampling(),
            cache_salt=fields.cache_salt,
            priority=fields.priority,
            arrival=now,
            adapter=context.adapters.of(fields.model),
        )
        for number, read in enumerate(reads)
    ]
    first: dict[str, TokenLogprobs] = {}
    output_tokens = 0
    async with context.generate(requests) as updates:
        async for update in updates:
            output_tokens += len(update.token_ids)
            if update.logprobs:
                first.setdefault(update.request_id, update.logprobs[0])
    unread = [
        read.question.id for read, request in zip(reads, requests, strict=True) if request.request_id not in first
    ]
    if unread:
        raise bad_request(f"no probabilities came back for: {', '.join(unread)}", "questions")
    return [
        read.verdict(first[request.request_id]) for read, request in zip(reads, requests, strict=True)
    ], output_tokens


async def probe(context: Context) -> None:
    """A real decision."""
    await handle(context, None, {"state": "ready", "questions": {"ready": {"type": "noul", "instructions": "Ready?"}}})
