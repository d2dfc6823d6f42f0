"""An engine dies: its streams go on with a twin, or with the generation before it, where the weights are the same."""

import signal
from typing import Any

from carried_stream import PROMPT, Stream, whole


def test_a_dead_replica_s_streams_go_on_with_its_twin(two: Any) -> None:
    server, second = two
    server.switch(engine_addresses=[server.engine.address, second.address])
    streams = [Stream(server, n=2, prompt=PROMPT) for _ in range(4)]
    server.until(lambda: all(stream.began() for stream in streams), "all stream")
    server.until(lambda: server.engine.journal["running"], "some on the first")
    server.engine.process.send_signal(signal.SIGKILL)
    for stream in streams:
        whole(stream.end(), 2)
    assert server.http.get("/ready").status_code == 200
    server.until(lambda: server.complete("ab").status_code == 200, "the twin serves")


def test_other_weights_are_no_twin(two: Any) -> None:
    server, _ = two
    other = server.another_engine("other", fingerprint="fedcba9876543210")
    both = [server.engine.address, other.address]
    assert "the replicas serve different weights" in server.prepare(engine_addresses=both)["error"]
    stream = Stream(server)
    server.until(stream.began, "it streams")
    server.switch(engine_addresses=[other.address])
    server.engine.process.send_signal(signal.SIGKILL)
    failure = stream.end().failure
    assert failure and failure["code"] == 503


def test_the_old_engine_stands_in_for_a_new_one_that_dies(two: Any) -> None:
    server, second = two
    server.switch(engine_addresses=[second.address], generation=2)
    third = server.another_engine("third", step=0.03)
    server.switch(engine_addresses=[third.address], generation=3)
    before = second.journal["submitted"]
    stream = Stream(server)
    server.until(stream.began, "it streams")
    third.stop()
    whole(stream.end())
    assert server.complete("xy", max_tokens=2).json()["choices"][0]["text"] == "xy"
    assert second.journal["submitted"] == before + 2
    server.switch(engine_addresses=[second.address], generation=2)
    assert server.complete("xy", max_tokens=2).status_code == 200


def test_a_retired_engine_stands_in_for_nobody(two: Any) -> None:
    server, second = two
    server.switch(engine_addresses=[second.address], generation=2)
    server.tell("retire", addresses=[server.engine.address], seconds=0, carry=True)
    second.stop()
    server.until(lambda: server.complete("xy", max_tokens=2).status_code == 503, "nobody serves")


def test_an_engine_with_other_weights_stands_in_for_nobody(two: Any) -> None:
    server, _ = two
    other = server.another_engine("stranger", fingerprint="other")
    server.switch(engine_addresses=[other.address], generation=2)
    other.stop()
    server.until(lambda: server.complete("xy", max_tokens=2).status_code == 503, "nobody serves")
