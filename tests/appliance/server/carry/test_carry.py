"""Engines end under running requests: these finish, or go on elsewhere without a gap, or are cut with a reason."""

import concurrent.futures
import json
import socket
import threading
from typing import Any

import httpx
import pytest
from carried_stream import PROMPT, STREAM, TOKENS, Stream, whole


@pytest.mark.parametrize("n", [1, 3])
def test_a_stream_is_carried_to_the_next_generation(two: Any, n: int) -> None:
    server, second = two
    stream = Stream(server, n=n, logprobs=2)
    server.until(stream.began, "it streams")
    server.switch(engine_addresses=[second.address], generation=2)
    assert server.tell("retire", addresses=[server.engine.address], seconds=0, carry=True) == {"carried": n}
    server.until(server.idle, "the old engine has nothing left")
    server.engine.stop()
    whole(stream.end(), n)
    assert stream.logprobs == [-0.5] * TOKENS * n
    assert len(second.journal["request"]["generated"]) >= 3
    assert "Traceback" not in server.log.read_text()


def test_while_held_a_carried_stream_waits_for_the_switch(two: Any) -> None:
    """The order of a drain: hold, retire, the engine dies, another one boots, prepare, switch."""
    server, second = two
    stream = Stream(server)
    server.until(stream.began, "it streams")
    server.tell("hold", requests=4, seconds=30)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        new = pool.submit(server.complete, "xy", max_tokens=2)
        assert server.tell("retire", addresses=[server.engine.address], seconds=0.05, carry=True) == {"carried": 1}
        server.engine.stop()
        assert second.journal["submitted"] == 0
        server.switch(engine_addresses=[second.address], generation=2)
        whole(stream.end())
        assert new.result().json()["choices"][0]["text"] == "xy"
    assert server.http.get("/ready").status_code == 200


def test_after_a_release_it_goes_on_with_the_old_engine_that_came_back(two: Any) -> None:
    """The order of a drain whose new generation fails."""
    server, _ = two
    stream = Stream(server)
    server.until(stream.began, "it streams")
    server.tell("hold", requests=4, seconds=30)
    server.tell("retire", addresses=[server.engine.address], seconds=0, carry=True)
    server.engine.stop()
    server.engine.start()
    server.tell("release")
    whole(stream.end())
    server.wait_ready()


def test_what_can_finish_in_time_finishes(two: Any) -> None:
    server, second = two
    stream = Stream(server)
    server.until(stream.began, "it streams")
    server.switch(engine_addresses=[second.address])
    assert server.tell("retire", addresses=[server.engine.address], seconds=30, carry=True) == {"finished": 1}
    whole(stream.end())
    assert second.journal["request"] is None or second.journal["request"]["prompt"] != list(PROMPT.encode())


def test_without_carry_it_is_cut_with_the_reason(two: Any) -> None:
    server, second = two
    stream = Stream(server)
    server.until(stream.began, "it streams")
    server.switch(engine_addresses=[second.address])
    assert server.tell("retire", addresses=[server.engine.address], seconds=0, carry=False) == {"cut": 1}
    failure = stream.end().failure
    assert failure and failure["code"] == 503 and "the engine was replaced while it answered" in failure["message"]


def test_a_drain_of_the_process_ends_a_stream_that_waits_to_be_carried_on(boot: Any) -> None:
    server = boot(engine={"step": 0.03}, drain_seconds=0.2)
    stream = Stream(server)
    server.until(stream.began, "it streams")
    server.tell("hold", requests=4, seconds=30)
    server.tell("retire", addresses=[server.engine.address], seconds=0, carry=True)
    assert server.end() == 0
    assert stream.end().failure


def test_a_client_that_leaves_a_carried_stream_frees_everything(two: Any) -> None:
    server, second = two
    with httpx.Client(base_url=server.url) as other, other.stream("POST", "/v1/completions", json=STREAM) as stream:
        lines = stream.iter_lines()
        next(lines)
        server.switch(engine_addresses=[second.address])
        server.tell("retire", addresses=[server.engine.address], seconds=0, carry=True)
    server.until(lambda: server.idle() and second.journal["running"] == 0, "both engines are idle")
    server.until(lambda: "appliance_queue_requests 0.0" in server.http.get("/metrics").text, "its place is free")


def test_a_shorter_context_ends_it_where_that_ends(two: Any) -> None:
    server, _ = two
    short = server.another_engine("short", context=40, step=0.003)
    stream = Stream(server)
    server.until(stream.began, "it streams")
    server.switch(engine_addresses=[short.address], max_context=40)
    server.tell("retire", addresses=[server.engine.address], seconds=0, carry=True)
    stream.end()
    assert stream.failure is None
    assert stream.texts[0] == (PROMPT * TOKENS)[: 40 - len(PROMPT)]
    assert stream.ends == {0: "length"}


def test_an_engine_that_dies_before_its_time_is_up_is_carried_too(two: Any) -> None:
    server, second = two
    stream = Stream(server)
    server.until(stream.began, "it streams")
    server.tell("hold", requests=4, seconds=30)
    retired = server.send("retire", addresses=[server.engine.address], seconds=20, carry=True)
    server.engine.stop()
    server.answers.of(retired)
    server.switch(engine_addresses=[second.address])
    whole(stream.end())


def test_generation_after_generation_under_load_loses_no_request(boot: Any) -> None:
    """Surges and drains in turn, on two engines, each time with no time to finish."""
    server = boot(engine={"step": 0.005})
    second = server.another_engine("second", step=0.005)
    addresses = [server.engine.address, second.address]
    stop = threading.Event()

    def work(number: int) -> int:
        done = 0
        while not stop.is_set():
            whole(Stream(server, n=1 + number % 2, priority=number).end(), 1 + number % 2)
            done += 1
        return done

    def replace(round_: int) -> int:
        old, new = addresses[round_ % 2], addresses[1 - round_ % 2]
        if round_ % 3 == 0:
            server.tell("hold", requests=64, seconds=30)
        else:
            server.switch(engine_addresses=[new], generation=round_ + 2)
        ends = server.tell("retire", addresses=[old], seconds=0, carry=True)
        if round_ % 3 == 0:
            server.switch(engine_addresses=[new], generation=round_ + 2)
        return int(ends.get("carried", 0))

    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        workers = [pool.submit(work, number) for number in range(12)]
        try:
            carried = sum(replace(round_) for round_ in range(12))
        finally:
            stop.set()
        assert sum(worker.result() for worker in workers) >= 12
    assert carried > 12
    server.until(lambda: server.idle() and second.journal["running"] == 0, "both engines are idle")
    assert "Traceback" not in server.log.read_text()


def test_a_request_still_on_its_way_to_the_engine_is_waited_for(two: Any) -> None:
    server, second = two
    body = json.dumps({"prompt": "xy", "max_tokens": 4}).encode()
    head = "POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json"
    head += f"\r\nConnection: close\r\nContent-Length: {len(body)}"
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as raw:
        raw.sendall(head.encode() + b"\r\n\r\n" + body[:5])
        server.until(lambda: server.complete("ab", max_tokens=1).status_code == 200, "the server has read its head")
        server.switch(engine_addresses=[second.address])
        retired = server.send("retire", addresses=[server.engine.address], seconds=30, carry=False)
        server.tell("discard")
        assert not server.answers.here(retired)
        raw.sendall(body[5:])
        with raw.makefile("rb") as answer:
            assert answer.readline().startswith(b"HTTP/1.1 200")
            assert b'"text":"xyxy"' in answer.read()
        assert server.answers.of(retired) == {"finished": 1}


def test_the_last_reader_of_an_old_state_closes_its_connection(two: Any) -> None:
    """A stream that outlives two states keeps what it needs and no more."""
    server, second = two
    stream = Stream(server)
    server.until(stream.began, "it streams")
    server.switch(engine_addresses=[second.address])
    server.tell("retire", addresses=[server.engine.address], seconds=0, carry=True)
    third = server.another_engine("third")
    server.switch(engine_addresses=[third.address])
    whole(stream.end())
    second.stop()
    server.engine.stop()
    assert server.http.get("/ready").status_code == server.complete("ab").status_code == 200
