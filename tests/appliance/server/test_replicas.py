"""Several replicas behind one server: the least loaded takes the next request, one decision stays together."""

import concurrent.futures
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from appliance.engine.protocol import Request, SamplingParams
from appliance.server.pool import PREFIX_TOKENS, Engines, Pool, Replica

LONG = {"prompt": "ab", "max_tokens": 150, "stream": True}


@pytest.fixture(scope="module")
def both(model: Path, launcher: Any) -> Iterator[tuple[Any, Any]]:
    with launcher(model, engine={"step": 0.1}) as server:
        second = server.another_engine("second", step=0.1)
        server.switch(engine_addresses=[server.engine.address, second.address])
        yield server, second


def test_long_requests_spread_evenly(both: tuple[Any, Any]) -> None:
    server, second = both
    with httpx.Client(base_url=server.url, timeout=60) as client, concurrent.futures.ThreadPoolExecutor(8) as pool:

        def one(_: int) -> None:
            with client.stream("POST", "/v1/completions", json=LONG) as stream:
                lines = stream.iter_lines()
                next(lines)
                server.until(lambda: running() == (4, 4), "four on each")

        def running() -> tuple[int, int]:
            return server.engine.journal["running"], second.journal["running"]

        list(pool.map(one, range(8)))


def test_the_sequences_of_one_request_stay_together(both: tuple[Any, Any]) -> None:
    server, second = both
    before = server.engine.journal["submitted"], second.journal["submitted"]
    for _ in range(4):
        assert server.complete("ab", n=3, max_tokens=1).status_code == 200
    grown = server.engine.journal["submitted"] - before[0], second.journal["submitted"] - before[1]
    assert sum(grown) == 12 and all(count % 3 == 0 for count in grown)


def test_numbers_are_told_per_replica(both: tuple[Any, Any]) -> None:
    server, _ = both
    families = {f.name: f for f in text_string_to_metric_families(server.http.get("/metrics").text)}
    for name in ("vllm:num_requests_running", "vllm:kv_cache_usage_perc", "appliance_engine_up", "vllm:prompt_tokens"):
        assert {sample.labels["engine"] for sample in families[name].samples} == {"0", "1"}, name
    assert "2 of 2 replicas" in server.http.get("/ready").json()["checks"]["engine"]["detail"]


def test_a_proof_asks_every_replica_that_is_new_and_one_where_none_is(both: tuple[Any, Any]) -> None:
    server, second = both
    third = server.another_engine("third")
    first = server.engine.address
    known = server.prepare(engine_addresses=[first, second.address])["proof"]
    server.tell("discard")
    assert known["replicas"] == 2 and {"chat", "completion"} == set(known) - {"replicas", "weights"}
    mixed = server.prepare(engine_addresses=[first, third.address])["proof"]
    server.tell("discard")
    assert {"chat[1]", "completion[1]"} == set(mixed) - {"replicas", "weights"}
    assert third.journal["submitted"] == 2


class Up(Replica):
    """A replica that serves, without an engine."""

    open = True  # type: ignore[assignment]

    def busy(self, requests: int) -> "Up":
        self.unfinished = {str(number) for number in range(requests)}
        return self


def request(prompt: list[int]) -> Request:
    return Request(request_id="r", prompt=prompt, sampling=SamplingParams(max_tokens=1))


def test_a_prefix_goes_where_it_is_cached_unless_that_is_much_busier() -> None:
    first, second = Up("a"), Up("b")
    engines = Engines(Pool(), (first, second))
    prompt = request([7] * PREFIX_TOKENS)
    home = engines.choose(prompt)
    assert isinstance(home, Up)
    assert all(engines.choose(prompt) is home for _ in range(5))
    assert {engines.choose(request([n])).address for n in range(4)} == {"a", "b"}
    home.busy(3)
    assert engines.choose(prompt) is home
    home.busy(9)
    assert engines.choose(prompt) is not home
