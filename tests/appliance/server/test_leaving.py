"""Clients that leave at any moment: nothing of them stays behind, in the engine or in the server."""

import asyncio
import random
import socket
from typing import Any

import httpx
import psutil
from prometheus_client.parser import text_string_to_metric_families


def gauges(server: Any) -> dict[str, float]:
    text = server.http.get("/metrics").text
    return {family.name: family.samples[0].value for family in text_string_to_metric_families(text) if family.samples}


def storm(server: Any, seed: int, clients: int) -> None:
    dice = random.Random(seed)

    async def one(client: httpx.AsyncClient) -> None:
        body = {
            "prompt": "abcdefgh",
            "max_tokens": dice.choice([1, 50, 200]),
            "n": dice.choice([1, 3]),
            "stream": dice.random() < 0.5,
            "stop": dice.choice([None, "h"]),
        }
        try:
            async with asyncio.timeout(dice.random() * 0.3):
                answer = await client.post("/v1/completions", json=body)
                assert answer.status_code == 200, answer.text
        except TimeoutError:
            pass

    async def all_of_them() -> None:
        async with httpx.AsyncClient(base_url=server.url, timeout=60) as client:
            await asyncio.gather(*(one(client) for _ in range(clients)))

    asyncio.run(all_of_them())


def test_a_storm_of_leaving_clients_leaves_nothing(server: Any) -> None:
    process = psutil.Process(server.process.pid)

    def calm() -> bool:
        now = gauges(server)
        return now["appliance_queue_requests"] == now["appliance_queue_tokens"] == 0 and server.idle()

    storm(server, 0, 20)
    server.until(calm, "the first storm has passed")
    server.until(lambda: process.num_fds() < 60, "the connections are closed")
    files = process.num_fds()
    for seed in range(1, 4):
        storm(server, seed, 40)
        server.until(calm, "the storm has passed")
    server.until(lambda: process.num_fds() <= files, "no file descriptor stays open")
    assert "Traceback" not in server.log.read_text()
    assert server.complete("ab", max_tokens=2).json()["choices"][0]["text"] == "ab"


def test_a_client_that_leaves_within_its_body(server: Any) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as raw:
        head = (
            "POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
        )
        raw.sendall(head.encode() + b'{"prompt": ')
    server.until(lambda: "POST /v1/completions 499" in server.log.read_text(), "the log says so")
    assert "Traceback" not in server.log.read_text()


def test_a_reader_that_stops_reading_holds_up_nobody_else(server: Any) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as raw:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        body = b'{"prompt": "ab", "max_tokens": 250, "stream": true, "n": 16}'
        head = "POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        head += f"Content-Length: {len(body)}\r\n\r\n"
        raw.sendall(head.encode() + body)
        assert raw.recv(12) == b"HTTP/1.1 200"
        assert server.complete("ab", max_tokens=20).json()["usage"]["completion_tokens"] == 20
    server.until(server.idle, "its requests have ended")
