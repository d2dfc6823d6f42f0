"""A request body that stops midway, or comes a byte at a time, is answered and its connection closed."""

import asyncio
import json
import socket

import pytest
import uvicorn
from fastapi import FastAPI, Request
from uvicorn.server import ServerState

from appliance.server import body, errors
from appliance.server.http import LimitedHttp

HEAD = b"POST / HTTP/1.1\r\nHost: x\r\n"


def make_app() -> FastAPI:
    app = FastAPI()
    errors.install(app)

    @app.post("/")
    async def size(request: Request) -> int:
        return len(await body.read_bytes(request, 1000))

    return app


async def talk(pieces: list[bytes], pause: float) -> bytes:
    """All that the server says until it closes."""
    config, state = uvicorn.Config(make_app(), ws="none"), ServerState()
    config.load()
    listener = socket.create_server(("127.0.0.1", 0))
    server = await asyncio.get_running_loop().create_server(lambda: LimitedHttp(config, state, {}), sock=listener)
    async with server:
        reader, writer = await asyncio.open_connection(*listener.getsockname())

        async def send() -> None:
            for piece in pieces:
                writer.write(piece)
                await asyncio.sleep(pause)

        sending = asyncio.create_task(send())
        answer = await asyncio.wait_for(reader.read(), 20)
        sending.cancel()
        writer.close()
        return answer


@pytest.mark.parametrize(
    "pieces",
    [
        [HEAD + b"Content-Length: 100\r\n\r\n", b'{"prompt": '],
        [HEAD + b"Content-Length: 100\r\n\r\n"],
        [HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\nabc"],
    ],
    ids=["stops", "never comes", "chunk stops"],
)
def test_bodies_that_do_not_end(pieces: list[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body, "BODY_SECONDS", 0.1)
    head, _, text = asyncio.run(talk(pieces, 0)).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 408 ") and b"connection: close" in head.lower()
    error = json.loads(text)["error"]
    assert (error["code"], error["type"]) == (408, "RequestTimeoutError")
    assert "stopped arriving" in error["message"]


def test_a_body_that_trickles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body, "BODY_SECONDS", 0.1)

    async def receive() -> dict[str, object]:
        await asyncio.sleep(0.005)
        return {"type": "http.request", "body": b"x", "more_body": True}

    request = Request({"type": "http", "method": "POST", "path": "/", "headers": []}, receive)
    with pytest.raises(errors.ApiError, match="stopped arriving") as caught:
        asyncio.run(body.read_bytes(request, 10**6))
    assert caught.value.status == 408


def test_what_arrives_has_time_at_its_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Longer than the limit in all, and never slower than the rate."""
    monkeypatch.setattr(body, "BODY_SECONDS", 2.0)
    monkeypatch.setattr(body, "BODY_BYTES_PER_SECOND", 10)
    pieces = [HEAD + b"Content-Length: 50\r\nConnection: close\r\n\r\n", *[b"x" * 10] * 5]
    assert asyncio.run(talk(pieces, 0.5)).endswith(b"\r\n\r\n50")
