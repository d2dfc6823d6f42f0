"""A text request ready for the engine: n sequences per prompt, each with its way back to text, and their usage."""

import time
import uuid
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any

import msgspec
from starlette.requests import Request as HttpRequest

from appliance import __version__
from appliance.engine.protocol import Request, SamplingParams, Update
from appliance.server.choice import Choice, Piece
from appliance.server.context import Context
from appliance.server.errors import bad_request
from appliance.server.generation import Generation
from appliance.server.sampling import INT64, SamplingFields

HEADER_ID_LENGTH = 256


@dataclass
class Job:
    id: str
    model: str
    fields: SamplingFields
    prompts: list[list[int]]
    requests: list[Request]
    """Choice i of the answer is requests[i]; prompt p's are the n from p * n on."""
    choices: list[Choice]
    fingerprint: str
    created: int = field(default_factory=lambda: int(time.time()))
    cached: dict[int, int] = field(default_factory=dict)
    """Prompt -> its tokens found in the cache."""

    @property
    def headers(self) -> dict[str, str]:
        return {"X-Request-Id": self.id}

    def head(self, kind: str) -> dict[str, Any]:
        """The fields that every answer and chunk begins with."""
        return {
            "id": self.id,
            "object": kind,
            "created": self.created,
            "model": self.model,
            "system_fingerprint": self.fingerprint,
        }

    async def pieces(self, updates: Generation) -> AsyncGenerator[tuple[int, Update, Piece], None]:
        """(choice, update, piece) as they come; ends what a stop string ended."""
        index = {request.request_id: i for i, request in enumerate(self.requests)}
        async for update in updates:
            number = index[update.request_id]
            choice = self.choices[number]
            if choice.finished:
                continue
            if number % self.fields.count == 0 and update.cached_tokens:
                self.cached[number // self.fields.count] = update.cached_tokens
            piece = choice.feed(update)
            if choice.finished:
                updates.finish(update.request_id, piece.finish_reason or "stop")
            yield number, update, piece

    def usage(self, choices: list[int] | None = None) -> dict[str, Any]:
        """Of the whole answer, or of some choices so far."""
        numbers = range(len(self.choices)) if choices is None else choices
        prompts = {number // self.fields.count for number in numbers}
        prompt = sum(len(self.prompts[p]) for p in prompts)
        completion = sum(self.choices[number].tokens for number in numbers)
        return {
            "prompt_tokens": prompt,
            "total_tokens": prompt + completion,
            "completion_tokens": completion,
            "prompt_tokens_details": {"cached_tokens": sum(self.cached.get(p, 0) for p in prompts)},
        }


def make_job(
    context: Context,
    prefix: str,
    http: HttpRequest | None,
    fields: SamplingFields,
    prompts: list[list[int]],
    params: list[SamplingParams],
) -> Job:
    """`params` per prompt. The header X-Request-Id wins over the field request_id; raises ApiError 400."""
    identity = prefix + request_id(http, fields.request_id)
    # the engine's ids are ours alone: two clients may send the same X-Request-Id
    group = uuid.uuid4().hex
    requests: list[Request] = []
    choices: list[Choice] = []
    now = time.monotonic()
    for prompt, shared in zip(prompts, params, strict=True):
        context.numbers.params_n.observe(fields.count)
        for copy in range(fields.count):
            own = (
                shared
                if shared.seed is None or not copy
                else msgspec.structs.replace(shared, seed=_shifted(shared.seed, copy))
            )
            requests.append(
                Request(
                    request_id=f"{identity}-{len(requests)}-{group[:8]}",
                    group=group if fields.count > 1 or len(prompts) > 1 else "",
                    prompt=prompt,
                    sampling=own,
                    cache_salt=fields.cache_salt,
                    priority=fields.priority or 0,
                    arrival=now,
                    adapter=context.adapters.of(fields.model),
                )
            )
            include_stop = fields.include_stop_str_in_output or False
            choices.append(
                Choice(context.tokenizer, prompt, fields.stop, include_stop, fields.skip_special, shared.min_tokens)
            )
    boot = context.engines.facts
    fingerprint = f"appliance-{__version__}-{boot.weights_fingerprint[:8]}"
    return Job(identity, context.served_name(fields.model), fields, prompts, requests, choices, fingerprint)


def request_id(http: HttpRequest | None, given: str | None) -> str:
    """The header's, else the body's, else a new one. Raises ApiError 400 for a header that no log should hold."""
    header = http.headers.get("x-request-id") if http else None
    if header is None:
        return given or uuid.uuid4().hex
    if not 0 < len(header) <= HEADER_ID_LENGTH or not header.isascii() or not header.isprintable():
        raise bad_request(f"X-Request-Id: 1 to {HEADER_ID_LENGTH} printable ASCII characters", "request_id")
    return header


def _shifted(seed: int, copy: int) -> int:
    """Another seed for every copy, within 64 signed bits."""
    return (seed + copy + INT64) % (2 * INT64) - INT64
