"""POST /v1/chat/completions: text in, text out, whole or streamed."""

from contextlib import AsyncExitStack
from typing import Annotated, Any

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from appliance.server.chat_stream import chat_events
from appliance.server.context import Context
from appliance.server.errors import bad_request, json_response, parse
from appliance.server.fields import check_fields
from appliance.server.job import Job, make_job
from appliance.server.logprobs import Speller, chat_logprobs, prompt_logprobs
from appliance.server.prompts import encode, render
from appliance.server.sampling import INT64, MAX_LOGPROBS, SamplingFields
from appliance.server.sse import EventStream


class ChatRequest(SamplingFields):
    messages: list[dict[str, Any]]
    max_completion_tokens: Annotated[int, Field(ge=0, lt=INT64)] | None = None
    logprobs: bool | None = None
    top_logprobs: Annotated[int, Field(ge=0, le=MAX_LOGPROBS)] | None = None
    echo: bool | None = None
    add_generation_prompt: bool | None = None
    continue_final_message: bool | None = None
    add_special_tokens: bool | None = None
    chat_template_kwargs: dict[str, Any] | None = None

    @property
    def role(self) -> str:
        return "assistant" if self.add_generation_prompt is not False else self.messages[-1]["role"]

    @property
    def echoed(self) -> str:
        """The final message's text, where it is the answer's beginning."""
        last = self.messages[-1]
        if not self.echo or last["role"] != self.role:
            return ""
        content = last.get("content") or ""
        return content if isinstance(content, str) else "\n".join(part["text"] for part in content)

    @property
    def engine_logprobs(self) -> int | None:
        return (self.top_logprobs or 0) if self.logprobs else None

    def check(self, vocab_size: int) -> None:
        super().check(vocab_size)
        for name in ("top_logprobs", "logprob_token_ids"):
            if getattr(self, name) and not self.logprobs:
                raise bad_request(f"{name} needs logprobs: true", name)
        if self.max_completion_tokens is not None and self.max_tokens is not None:
            if self.max_completion_tokens != self.max_tokens:
                raise bad_request("max_tokens and max_completion_tokens differ; send one of them", "max_tokens")
        elif self.max_completion_tokens is not None:
            self.max_tokens = self.max_completion_tokens


async def handle(context: Context, request: Request | None, body: dict[str, Any]) -> Response:
    check_fields(body, ChatRequest.model_fields, context.config.schema_depth, context.unknown_fields)
    fields = parse(ChatRequest, body)
    job = await _job(context, request, fields)
    async with AsyncExitStack() as stack:
        updates = await stack.enter_async_context(context.generate(job.requests))
        spell = Speller(context.tokenizer, fields.return_tokens_as_token_ids or False)
        if fields.stream:
            events = chat_events(job, updates, spell, fields.role, fields.echoed, bool(fields.logprobs))
            return EventStream(events, job.headers, stack.pop_all())
        answers: list[dict[str, Any]] = [{"text": fields.echoed, "ids": [], "logprobs": []} for _ in job.choices]
        of_prompt = None
        async for number, update, piece in job.pieces(updates):
            answer = answers[number]
            answer["text"] += piece.text
            answer["ids"] += piece.token_ids
            answer["logprobs"] += piece.logprobs
            answer["end"] = (piece.finish_reason, piece.stop_reason)
            of_prompt = of_prompt or update.prompt_logprobs
    choices = [_choice(number, fields, spell, answer) for number, answer in enumerate(answers)]
    answer = {
        **job.head("chat.completion"),
        "choices": choices,
        "service_tier": None,
        "usage": job.usage(),
        "prompt_logprobs": prompt_logprobs(spell, of_prompt) if of_prompt else None,
        "prompt_token_ids": job.prompts[0] if fields.return_token_ids else None,
    }
    return json_response(answer, headers=job.headers)


async def _job(context: Context, request: Request | None, fields: ChatRequest) -> Job:
    context.served_name(fields.model)
    context.check_serving()
    fields.check(context.engines.facts.vocab_size)
    text = await render(
        context,
        fields.messages,
        fields.add_generation_prompt is not False,
        fields.continue_final_message or False,
        fields.chat_template_kwargs,
    )
    prompt = await encode(context, text, fields.add_special_tokens or False, "messages")
    if not prompt:
        raise bad_request("messages: they make an empty prompt", "messages")
    params = fields.params(context.config, len(prompt), None, fields.engine_logprobs)
    return make_job(context, "chatcmpl-", request, fields, [prompt], [params])


def _choice(number: int, fields: ChatRequest, spell: Speller, answer: dict[str, Any]) -> dict[str, Any]:
    finish_reason, stop_reason = answer["end"]
    return {
        "index": number,
        "message": {
            "role": fields.role,
            "content": answer["text"],
            "refusal": None,
            "annotations": None,
            "audio": None,
            "function_call": None,
            "tool_calls": [],
            "reasoning": None,
        },
        "logprobs": chat_logprobs(spell, answer["logprobs"]) if fields.logprobs else None,
        "finish_reason": finish_reason,
        "stop_reason": stop_reason,
        "token_ids": answer["ids"] if fields.return_token_ids else None,
    }


async def probe(context: Context) -> None:
    """One token of a real chat."""
    await handle(context, None, {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1, "temperature": 0})
