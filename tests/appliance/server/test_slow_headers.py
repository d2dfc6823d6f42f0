"""A connection whose request headers never end is closed."""

import asyncio
import socket

import pytest
import uvicorn
from uvicorn.server import ServerState

from appliance.server import http as limited


@pytest.mark.parametrize("sent", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: x\r\n"])
def test_headers_that_do_not_end(sent: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limited, "HEADER_SECONDS", 0.05)

    async def app(scope: object, receive: object, send: object) -> None:
        raise AssertionError("no request was complete")

    async def run() -> bytes:
        config, state = uvicorn.Config(app, ws="none"), ServerState()
        config.load()
        listener = socket.create_server(("127.0.0.1", 0))
        server = await asyncio.get_running_loop().create_server(
            lambda: limited.LimitedHttp(config, state, {}), sock=listener
        )
        async with server:
            reader, writer = await asyncio.open_connection(*listener.getsockname())
            writer.write(sent)
            left = await asyncio.wait_for(reader.read(), 20)
            writer.close()
            await writer.wait_closed()
            return left

    assert asyncio.run(run()) == b""
