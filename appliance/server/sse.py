"""Server-sent events: one `data:` line per JSON value."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from typing import Any

import msgspec
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from appliance.server.errors import ApiError, unexpected

DONE = b"data: [DONE]\n\n"

_encode = msgspec.json.Encoder().encode


def event(value: Any) -> bytes:
    return b"data: " + _encode(value) + b"\n\n"


class EventStream(StreamingResponse):
    """Streams `events`; a failure on the way becomes an error event. `held` is released however the stream ends."""

    def __init__(self, events: AsyncGenerator[bytes, None], headers: dict[str, str], held: AsyncExitStack) -> None:
        self._events = events
        self._held = held
        headers = {"Cache-Control": "no-cache", **headers}
        super().__init__(_guarded(events), headers=headers, media_type="text/event-stream")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._held.aclose()
            await self._events.aclose()


async def _guarded(events: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    try:
        async for chunk in events:
            yield chunk
    except ApiError as error:
        yield event(error.body())
        yield DONE
    except Exception as error:
        yield event(unexpected(error, "a streamed answer").body())
        yield DONE
