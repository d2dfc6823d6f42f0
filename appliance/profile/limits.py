"""Section `limits`: what one request and all requests together may ask for."""

from typing import Annotated, Literal

from pydantic import Field

from .setting import Section, section, setting
from .types import Size


class MaxTokens(Section):
    default: Annotated[int, Field(ge=1)] | None = setting(
        None,
        description="Output length of requests that name none; null: as much as the context leaves.",
        unit="tokens",
        reload="live",
    )
    overflow: Literal["shrink", "reject"] = setting(
        "shrink",
        description="When prompt plus max_tokens exceed the context: shorten the output, or answer 400. A max_tokens "
        "above the context by itself is answered 400 either way.",
        reload="live",
        since="0.32",
    )


class Queue(Section):
    requests: int = setting(
        256,
        description="Most requests that wait; further ones are answered 503 with Retry-After.",
        unit="requests",
        reload="live",
        option="max-num-queued-reqs",
        ge=1,
    )
    tokens: Annotated[int, Field(ge=1)] | None = setting(
        None,
        description="Most prompt tokens that wait; null: no limit.",
        unit="tokens",
        reload="live",
        option="max-num-queued-tokens",
    )


class Limits(Section):
    max_tokens: MaxTokens = section(MaxTokens, description="Output length of one request.")
    queue: Queue = section(Queue, description="Waiting requests.")
    body: Size = setting(
        32 * 2**20, description="Largest request body; a larger one is answered 413.", unit="bytes", reload="live"
    )
    schema_depth: int = setting(
        64,
        description="Deepest nesting of a JSON Schema in a request; a deeper one is answered 400.",
        unit="levels",
        reload="live",
        since="0.32",
        ge=1,
        le=1000,
    )
