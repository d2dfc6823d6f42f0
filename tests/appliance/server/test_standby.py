"""A state that may not last: what its engines can no longer answer waits for those that serve next."""

import concurrent.futures
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest


@pytest.fixture(scope="module")
def one(model: Path, launcher: Any) -> Iterator[Any]:
    with launcher(model, engine={"step": 0.02}) as server:
        yield server


@pytest.fixture
def server(one: Any) -> Iterator[Any]:
    """On its first engine, standing by; that ends with the test."""
    assert one.tell("standby", requests=8, seconds=30, carry=False) == {}
    yield one
    if one.engine.process.poll() is not None:
        one.engine.start()
    one.tell("release")
    one.wait_ready()


def waiting(server: Any) -> int:
    return int(server.http.get("/ready").json()["held"] or 0)


def ask(server: Any, **more: Any) -> httpx.Response:
    return httpx.post(f"{server.url}/v1/completions", json={"prompt": "ab", "max_tokens": 4, **more}, timeout=60)


def kill(server: Any) -> None:
    server.engine.process.send_signal(signal.SIGKILL)
    server.engine.process.wait()


def test_what_is_running_and_what_comes_is_answered_by_the_next_engines(server: Any) -> None:
    with concurrent.futures.ThreadPoolExecutor() as pool:
        running = pool.submit(ask, server, max_tokens=200)
        server.until(lambda: server.engine.journal["running"] == 1, "it runs")
        kill(server)
        coming = pool.submit(ask, server)
        server.until(lambda: waiting(server) == 2, "both wait")
        assert server.http.get("/ready").status_code == server.http.get("/health").status_code == 200
        other = server.another_engine("other")
        server.switch(engine_addresses=[other.address])
        assert running.result().json()["choices"][0]["text"] == "ab" * 100
        assert coming.result().json()["choices"][0]["text"] == "abab"
        server.engine.start()
        server.switch()
        other.stop()


def test_an_engine_that_comes_back_by_itself_takes_what_waits(server: Any) -> None:
    kill(server)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        answer = pool.submit(ask, server)
        server.until(lambda: waiting(server) == 1, "it waits")
        server.engine.start()
        assert answer.result().status_code == 200
    assert waiting(server) == 0


def test_the_wait_is_bounded(server: Any) -> None:
    server.tell("standby", requests=1, seconds=0.3, carry=False)
    kill(server)
    late = ask(server)
    assert late.status_code == 503 and "longer than a request waits" in late.json()["error"]["message"]
    assert int(late.headers["retry-after"]) >= 1


def test_a_stream_that_cannot_go_on_is_told_why(server: Any) -> None:
    body = {"prompt": "ab", "max_tokens": 200, "stream": True}
    with httpx.stream("POST", f"{server.url}/v1/completions", json=body, timeout=60) as stream:
        lines = stream.iter_lines()
        next(lines)
        kill(server)
        assert "the engine stopped while it answered" in "\n".join(lines)


def test_after_a_release_a_dead_engine_is_a_refusal(server: Any) -> None:
    server.tell("release")
    kill(server)
    server.until(lambda: ask(server).status_code == 503, "refused")
    assert waiting(server) == 0


def test_a_server_that_starts_within_it_knows(boot: Any) -> None:
    server = boot(greeting=({"type": "standby", "reference": 0, "requests": 4, "seconds": 30, "carry": False},))
    kill(server)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        answer = pool.submit(ask, server)
        server.until(lambda: waiting(server) == 1, "it waits")
        server.engine.start()
        assert answer.result().status_code == 200
