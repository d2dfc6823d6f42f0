"""POST /v1/completions: prompts as text or token ids, continued, whole or streamed."""

from contextlib import AsyncExitStack
from typing import Annotated, Any

import msgspec
from pydantic import AfterValidator, Field
from starlette.requests import Request
from starlette.responses import Response

from appliance.engine.protocol import SamplingParams
from appliance.server.completion_stream import CompletionWriter, completion_events
from appliance.server.context import Context
from appliance.server.errors import bad_request, json_response, parse, shown
from appliance.server.fields import check_fields
from appliance.server.job import Job, make_job
from appliance.server.logprobs import Speller
from appliance.server.prompts import encode
from appliance.server.sampling import MAX_LOGPROBS, SamplingFields, check_ids
from appliance.server.sse import EventStream

MAX_PROMPTS = 1024
DEFAULT_MAX_TOKENS = 16


def _is_ids(value: Any) -> bool:
    return isinstance(value, list) and all(type(item) is int for item in value)


def _prompt(value: Any) -> Any:
    """A list of texts or of id lists, one per prompt."""
    prompts = [value] if isinstance(value, str) or (_is_ids(value) and value) else value
    uniform = isinstance(prompts, list) and (all(isinstance(p, str) for p in prompts) or all(map(_is_ids, prompts)))
    if not uniform:
        raise ValueError(f"must be text, token ids, or a list of either, got {shown(value)}")
    if not 0 < len(prompts) <= MAX_PROMPTS:
        raise ValueError(f"must hold 1 to {MAX_PROMPTS} prompts, got {len(prompts)}")
    return prompts


class CompletionRequest(SamplingFields):
    prompt: Annotated[Any, AfterValidator(_prompt)]
    logprobs: Annotated[int, Field(ge=0, le=MAX_LOGPROBS)] | None = None
    echo: bool | None = None
    add_special_tokens: bool | None = None

    @property
    def only_echo(self) -> bool:
        """Nothing is to be generated: the prompt itself is asked back, mostly for its log-probabilities."""
        return bool(self.echo) and self.max_tokens == 0

    def check(self, vocab_size: int) -> None:
        super().check(vocab_size)
        if self.logprob_token_ids and self.logprobs is None:
            raise bad_request("logprob_token_ids needs logprobs", "logprob_token_ids")
        if self.logprob_token_ids and self.echo:
            raise bad_request("logprob_token_ids cannot be had for the tokens that echo repeats", "logprob_token_ids")


async def handle(context: Context, request: Request | None, body: dict[str, Any]) -> Response:
    check_fields(body, CompletionRequest.model_fields, context.config.schema_depth, context.unknown_fields)
    fields = parse(CompletionRequest, body)
    job, texts = await _job(context, request, fields)
    spell = Speller(context.tokenizer, fields.return_tokens_as_token_ids or False)
    writers = [
        CompletionWriter(job, number, spell, fields.logprobs, texts[number // fields.count], fields.only_echo)
        for number in range(len(job.choices))
    ]
    async with AsyncExitStack() as stack:
        updates = await stack.enter_async_context(context.generate(job.requests))
        if fields.stream:
            return EventStream(completion_events(job, updates, writers), job.headers, stack.pop_all())
        async for number, update, piece in job.pieces(updates):
            writers[number].add(update, piece)
    answer = {
        **job.head("text_completion"),
        "choices": [writer.choice() for writer in writers],
        "service_tier": None,
        "usage": job.usage(),
    }
    return json_response(answer, headers=job.headers)


async def _job(context: Context, request: Request | None, fields: CompletionRequest) -> tuple[Job, list[str | None]]:
    """The job, and per prompt the text to echo."""
    context.served_name(fields.model)
    context.check_serving()
    vocab_size = context.engines.facts.vocab_size
    fields.check(vocab_size)
    prompts: list[list[int]] = []
    texts: list[str | None] = []
    params: list[SamplingParams] = []
    for given in fields.prompt:
        if isinstance(given, str):
            ids = await encode(context, given, fields.add_special_tokens is not False, "prompt")
        else:
            ids = given
            check_ids(ids, vocab_size, "prompt")
        if not ids:
            raise bad_request("prompt: it is empty, there is nothing to continue", "prompt")
        prompts.append(ids)
        texts.append((given if isinstance(given, str) else context.tokenizer.decode(ids)) if fields.echo else None)
        params.append(_params(context, fields, len(ids)))
    return make_job(context, "cmpl-", request, fields, prompts, params), texts


def _params(context: Context, fields: CompletionRequest, prompt_tokens: int) -> SamplingParams:
    if fields.only_echo:
        fields = fields.model_copy(update={"max_tokens": 1})
    params = fields.params(context.config, prompt_tokens, DEFAULT_MAX_TOKENS, fields.logprobs)
    if fields.echo and fields.logprobs is not None:
        of_prompt = max(fields.logprobs, fields.prompt_logprobs or 0)
        return msgspec.structs.replace(params, prompt_logprobs=of_prompt)
    return params


async def probe(context: Context) -> None:
    """One real token."""
    await handle(context, None, {"prompt": "Hi", "max_tokens": 1, "temperature": 0})
