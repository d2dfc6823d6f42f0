"""Server-sent events: one `data:` line per JSON value."""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from typing import Any

import msgspec
from starlette.responses import StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from appliance.server.errors import ApiError, unexpected

DONE = b"data: [DONE]\n\n"
KEEP_ALIVE = b": keep-alive\n\n"
"""A comment, which clients skip."""
KEEP_ALIVE_SECONDS = 15.0
"""Of silence, as the standard advises: proxies and clients give up on connections that say nothing for a minute."""

_encode = msgspec.json.Encoder().encode


def event(value: Any) -> bytes:
    return b"data: " + _encode(value) + b"\n\n"


class EventStream(StreamingResponse):
    """Streams `events`, and comments while there are none; a failure on the way becomes an error event. `held` is
    released however the stream ends."""

    def __init__(self, events: AsyncGenerator[bytes, None], headers: dict[str, str], held: AsyncExitStack) -> None:
        self._events = events
        self._held = held
        headers = {"Cache-Control": "no-cache", **headers}
        super().__init__(_guarded(events), headers=headers, media_type="text/event-stream")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        line = Line(send)
        alive = asyncio.create_task(line.keep_alive())
        try:
            await super().__call__(scope, receive, line.send)
        finally:
            alive.cancel()
            await self._held.aclose()
            await self._events.aclose()


class Line:
    """What goes to the client: every message is whole events, so that a comment fits between any two."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._open = False
        self._spoke = time.monotonic()

    async def send(self, message: Message) -> None:
        self._open = message["type"] == "http.response.start" or message.get("more_body", False)
        self._spoke = time.monotonic()
        await self._send(message)

    async def keep_alive(self) -> None:
        """Until cancelled, or the client has left."""
        with contextlib.suppress(OSError):
            while True:
                silent = time.monotonic() - self._spoke
                await asyncio.sleep(KEEP_ALIVE_SECONDS - silent)
                if self._open and time.monotonic() - self._spoke >= KEEP_ALIVE_SECONDS:
                    await self.send({"type": "http.response.body", "body": KEEP_ALIVE, "more_body": True})


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
