"""Server-sent events: one `data:` line per JSON value."""

from collections.abc import AsyncGenerator
from typing import Any

import msgspec
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from appliance.server.errors import ApiError

DONE = b"data: [DONE]\n\n"

_encode = msgspec.json.Encoder().encode


def event(value: Any) -> bytes:
    return b"data: " + _encode(value) + b"\n\n"


class EventStream(StreamingResponse):
    """Streams `events`; a failure after the first byte becomes an error event, a client that leaves ends the generator at once."""

    def __init__(self, events: AsyncGenerator[bytes, None], headers: dict[str, str]) -> None:
        self._events = events
        super().__init__(_guarded(events), headers={"Cache-Control": "no-cache", **headers}, media_type="text/event-stream")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._events.aclose()


async def _guarded(events: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    try:
        async for chunk in events:
            yield chunk
    except ApiError as error:
        yield event(error.body())
        yield DONE
