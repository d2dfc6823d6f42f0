"""A stream that waits, for a long prompt or for the engine that takes it over, shows its client that it lives."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack

import pytest
from starlette.types import Message

from appliance.server import sse


def heard(events: AsyncGenerator[bytes, None]) -> list[Message]:
    """What goes to the client."""
    messages: list[Message] = []

    async def receive() -> Message:
        await asyncio.Event().wait()
        raise AssertionError("unreachable")

    async def send(message: Message) -> None:
        messages.append(message)

    async def run() -> None:
        scope = {"type": "http", "asgi": {"spec_version": "2.4"}}
        await sse.EventStream(events, {}, AsyncExitStack())(scope, receive, send)
        await asyncio.sleep(0.2)

    asyncio.run(run())
    assert messages[0]["type"] == "http.response.start"
    return messages[1:]


async def silent() -> AsyncGenerator[bytes, None]:
    yield sse.event(1)
    await asyncio.sleep(0.35)
    yield sse.event(2)
    yield sse.DONE


def test_silence_is_filled_with_comments_between_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "KEEP_ALIVE_SECONDS", 0.1)
    bodies = [message["body"] for message in heard(silent())]
    assert bodies[0] == b"data: 1\n\n" and bodies[-3:] == [b"data: 2\n\n", sse.DONE, b""]
    assert bodies[1:-3] and set(bodies[1:-3]) == {b": keep-alive\n\n"}


def test_a_stream_that_flows_has_none() -> None:
    assert [message["body"] for message in heard(silent())] == [b"data: 1\n\n", b"data: 2\n\n", sse.DONE, b""]
