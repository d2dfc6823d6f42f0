"""New work waits while an engine is replaced: bounded, with a deadline, and only that."""

import concurrent.futures
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest


@pytest.fixture(scope="module")
def one(model: Path, launcher: Any) -> Iterator[Any]:
    with launcher(model, environment={"APPLIANCE_TEST_KEY": "the-right-key"}) as server:
        yield server


@pytest.fixture
def held(one: Any) -> Iterator[Any]:
    """A server whose hold ends after the test."""
    yield one
    one.tell("release")
    one.http.headers.pop("Authorization", None)
    one.switch()


def waiting(server: Any) -> int:
    return int(server.http.get("/ready").json()["held"])


def ask(server: Any, **more: Any) -> httpx.Response:
    return httpx.post(f"{server.url}/v1/completions", json={"prompt": "ab", "max_tokens": 4, **more}, timeout=30)


def test_held_work_is_answered_once_released_and_the_rest_all_the_time(held: Any) -> None:
    assert held.tell("hold", requests=8, seconds=30) == {}
    with concurrent.futures.ThreadPoolExecutor() as pool:
        answers = [pool.submit(ask, held, n=number + 1) for number in range(3)]
        held.until(lambda: waiting(held) == 3, "three wait")
        assert held.http.get("/ready").status_code == held.http.get("/health").status_code == 200
        assert held.http.post("/tokenize", json={"prompt": "ab"}).json()["count"] == 2
        assert "appliance_queue_held 3.0" in held.http.get("/metrics").text
        assert not any(answer.done() for answer in answers)
        assert held.tell("release") == {}
        for number, answer in enumerate(answers):
            assert [choice["text"] for choice in answer.result().json()["choices"]] == ["abab"] * (number + 1)


def test_a_switch_takes_what_waits_to_the_new_state(held: Any) -> None:
    held.tell("hold", requests=8, seconds=30)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        answer = pool.submit(ask, held, model="new")
        held.until(lambda: waiting(held) == 1, "one waits")
        held.switch(served_names=["new"])
        assert answer.result().json()["model"] == "new"
    assert held.http.get("/ready").json()["held"] is None


def test_what_finds_no_room_is_told_when_to_come_back(held: Any) -> None:
    held.tell("hold", requests=1, seconds=7)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        first = pool.submit(ask, held)
        held.until(lambda: waiting(held) == 1, "one waits")
        refused = held.complete("ab")
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "7")
        assert "being replaced" in refused.json()["error"]["message"]
        held.tell("release")
        assert first.result().status_code == 200


def test_the_queue_s_own_limit_holds_for_what_waits(held: Any) -> None:
    held.switch(queue_requests=1)
    held.tell("hold", requests=8, seconds=30)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        first = pool.submit(ask, held)
        held.until(lambda: waiting(held) == 1, "one waits")
        assert held.complete("ab").status_code == 503
        held.tell("release")
        assert first.result().status_code == 200


def test_what_waits_too_long_gets_503_with_the_headers_of_any_answer(held: Any) -> None:
    held.switch(cors_origins=["https://a.example"])
    held.tell("hold", requests=8, seconds=0.2)
    late = held.http.post("/v1/completions", json={"prompt": "ab"}, headers={"Origin": "https://a.example"})
    assert late.status_code == 503 and int(late.headers["retry-after"]) >= 1
    assert late.headers["access-control-allow-origin"] == "https://a.example"
    assert "longer than a request waits" in late.json()["error"]["message"]
    assert waiting(held) == 0


def test_who_shows_no_key_takes_no_place(held: Any) -> None:
    held.switch(api_keys=[{"env": "APPLIANCE_TEST_KEY"}])
    held.tell("hold", requests=1, seconds=30)
    assert ask(held).status_code == 401
    with concurrent.futures.ThreadPoolExecutor() as pool:
        held.http.headers["Authorization"] = "Bearer the-right-key"
        first = pool.submit(held.complete, "ab")
        held.until(lambda: waiting(held) == 1, "one waits")
        assert ask(held).status_code == 401
        held.tell("release")
        assert first.result().status_code == 200


def test_a_client_that_leaves_frees_its_place_at_once(held: Any) -> None:
    held.tell("hold", requests=1, seconds=30)
    submitted = held.engine.journal["submitted"]
    for _ in range(3):
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(f"{held.url}/v1/completions", json={"prompt": "ab"}, timeout=httpx.Timeout(0.2, connect=5))
        held.until(lambda: waiting(held) == 0, "its place is free")
    held.tell("release")
    held.until(lambda: "completions 499" in held.log.read_text(), "the log says so")
    assert held.engine.journal["submitted"] == submitted


def test_a_body_longer_than_what_is_kept_arrives_whole(held: Any) -> None:
    held.tell("hold", requests=1, seconds=30)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        answer = pool.submit(ask, held, unknown="x" * (3 << 20))
        held.until(lambda: waiting(held) == 1, "one waits")
        held.tell("release")
        assert answer.result().json()["choices"][0]["text"] == "abab"


def test_readiness_says_so_once_held_work_is_refused_for_its_age(held: Any) -> None:
    held.tell("hold", requests=1, seconds=0.2)
    held.engine.stop()
    answer = held.until(lambda: (got := held.http.get("/ready")).status_code == 503 and got.json(), "not ready")
    assert answer["reason"]
    assert held.http.get("/health").status_code == 200
    held.engine.start()
    held.tell("release")
    held.wait_ready()


def test_a_drain_refuses_what_waits(boot: Any) -> None:
    """The hold came with the configuration, as for a server that died within one."""
    server = boot(greeting=({"type": "hold", "reference": 0, "requests": 4, "seconds": 30},))
    with concurrent.futures.ThreadPoolExecutor() as pool:
        answer = pool.submit(ask, server)
        server.until(lambda: waiting(server) == 1, "one waits")
        os.kill(server.process.pid, signal.SIGTERM)
        assert answer.result().status_code == 503
        assert "shutting down" in answer.result().text
    assert server.process.wait(20) == 0
