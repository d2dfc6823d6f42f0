"""A server takes another configuration while it serves: proven first, in force at once, without a lost request."""

import asyncio
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from prometheus_client.parser import text_string_to_metric_families

SLOW = {"step": 0.02}


@pytest.fixture(scope="module")
def one(model: Path, launcher: Any) -> Iterator[Any]:
    with launcher(model, engine=SLOW) as server:
        yield server


@pytest.fixture
def live(one: Any) -> Iterator[Any]:
    """The same process for every test that takes this; it gets its first configuration back."""
    yield one
    one.http.headers.pop("Authorization", None)
    one.tell("discard")
    one.switch()


def text_of(lines: Any) -> str:
    """Of a streamed completion that ended as it should."""
    chunks = [line.removeprefix("data: ") for line in lines if line]
    assert chunks[-1] == "[DONE]", chunks[-1]
    values = [json.loads(chunk) for chunk in chunks[:-1]]
    assert not any("error" in value for value in values), values[-1]
    return "".join(choice["text"] for value in values for choice in value["choices"])


def metric(server: Any, name: str) -> list[tuple[dict[str, str], float]]:
    families = text_string_to_metric_families(server.http.get("/metrics").text)
    return [(s.labels, s.value) for family in families for s in family.samples if s.name == name]


def generated(server: Any) -> dict[str, float]:
    """Tokens by served name; a state's proof is work too."""
    return {labels["model_name"]: value for labels, value in metric(server, "vllm:generation_tokens_total")}


def test_live_fields_hold_for_the_next_request(live: Any, tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("open-sesame-1\n")
    server = live
    server.switch(
        served_names=["renamed"],
        api_keys=[{"file": str(key)}],
        cors_origins=["https://a.example"],
        max_tokens_default=3,
        body_bytes=200,
        endpoints={"chat": "off", "metrics": "on", "systemone": "off"},
        queue_requests=2,
        log_format="json",
        revision=2,
        config_hash="abc",
    )
    assert server.complete("ab").status_code == 401
    server.http.headers["Authorization"] = "Bearer open-sesame-1"
    answer = server.complete("ab", model="renamed")
    assert answer.json()["usage"]["completion_tokens"] == 3
    assert server.complete("ab", model="bytes").status_code == 404
    assert server.complete("a" * 300).status_code == 413
    assert server.complete("ab", n=3).status_code == 400
    assert server.chat("ab").status_code == 404
    origin = {"Origin": "https://a.example"}
    assert server.http.get("/version", headers=origin).headers["access-control-allow-origin"] == "https://a.example"
    server.until(lambda: json.loads(server.log.read_text().splitlines()[-1])["path"] == "/version", "a line of JSON")
    ((labels, _),) = metric(server, "appliance_config_info")
    assert (labels["revision"], labels["hash"]) == ("2", "abc")
    server.switch(access_log=False)
    logged = len(server.log.read_text().splitlines())
    assert server.complete("ab").status_code == 200
    assert len(server.log.read_text().splitlines()) == logged


def test_a_stream_keeps_the_state_it_began_in(live: Any) -> None:
    server = live
    server.switch(max_tokens_default=40)
    with httpx.Client(base_url=server.url, timeout=30) as other:
        body = {"prompt": "ab", "stream": True, "model": "alias"}
        with other.stream("POST", "/v1/completions", json=body) as stream:
            lines = stream.iter_lines()
            first = next(lines)
            server.switch(served_names=["new"], max_tokens_default=1)
            assert server.complete("ab", model="alias").status_code == 404
            assert text_of([first, *lines]) == "ab" * 20


def test_counts_go_on_through_a_switch(live: Any) -> None:
    server = live
    server.complete("ab", max_tokens=5)
    before = generated(server)["bytes"]
    server.switch(served_names=["new"])
    already = generated(server)["new"]
    server.complete("ab", max_tokens=5)
    assert generated(server)["bytes"] == before
    assert generated(server)["new"] == already + 5


def test_the_proof_says_what_was_tried(live: Any) -> None:
    server = live
    proof = server.prepare()["proof"]
    assert proof["chat"].startswith("1 token in ") and proof["completion"].startswith("1 token in ")
    assert (proof["weights"], proof["replicas"]) == ("0123456789abcdef", 1)
    assert "decision" not in proof
    assert server.tell("discard") == {}
    unproven = server.prepare(probe=False)["proof"]
    assert set(unproven) == {"weights", "replicas"}


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no tokenizer": ({"model_path": "/nowhere/model"}, "/nowhere/model"),
    "no key": ({"api_keys": [{"env": "APPLIANCE_TEST_ABSENT"}]}, "APPLIANCE_TEST_ABSENT"),
    "no key file": ({"api_keys": [{"file": "/nowhere/key"}]}, "/nowhere/key"),
    "no template": ({"chat_template": "/nowhere/chat.jinja"}, "/nowhere/chat.jinja"),
    "no engine": ({"engine_addresses": ["ipc:///tmp/nowhere-engine"], "seconds": 0.3}, "no answer from the engine"),
    "one replica short": ({"engine_addresses": [0, "ipc:///tmp/nowhere-2"], "seconds": 0.3}, "no answer from the eng"),
    "a context too long": ({"max_context": 1000}, "the engine's context holds 256 tokens, 1000 are to be served"),
    "no decisions": ({"endpoints": {"systemone": "required"}}, "endpoints.systemone is required, but"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_state_is_refused_and_the_current_one_stays(live: Any, case: str) -> None:
    server = live
    changes, reason = BAD[case]
    if "engine_addresses" in changes:
        changes = {**changes, "engine_addresses": [a or server.engine.address for a in changes["engine_addresses"]]}
    answer = server.prepare(**changes, served_names=["never"])
    assert reason in answer["error"], answer
    assert "Traceback" not in server.log.read_text()
    assert server.tell("switch") == {"error": "there is no candidate to switch to"}
    assert server.complete("ab", model="bytes").status_code == 200
    assert server.http.get("/ready").status_code == 200


def test_a_template_that_refuses_every_chat_is_refused(live: Any, tmp_path: Path) -> None:
    template = tmp_path / "refuses.jinja"
    template.write_text("{{ raise_exception('no chats today') }}")
    assert "no chats today" in live.prepare(chat_template=str(template))["error"]


def test_an_edited_template_under_the_same_name_is_read(live: Any, tmp_path: Path) -> None:
    template = tmp_path / "chat.jinja"
    template.write_text("one")
    server = live
    server.switch(chat_template=str(template))
    assert server.chat("x", max_tokens=3).json()["choices"][0]["message"]["content"] == "one"
    template.write_text("other")
    server.switch(chat_template=str(template))
    assert server.chat("x", max_tokens=5).json()["choices"][0]["message"]["content"] == "other"


def test_a_full_queue_does_not_spoil_a_proof(boot: Any) -> None:
    server = boot(engine=SLOW, queue_requests=1)
    with (
        httpx.Client(base_url=server.url, timeout=30) as other,
        other.stream("POST", "/v1/completions", json={"prompt": "ab", "max_tokens": 200, "stream": True}) as stream,
    ):
        lines = stream.iter_lines()
        next(lines)
        assert server.complete("ab").status_code == 503
        assert "proof" in server.prepare()


def test_one_candidate_at_a_time_and_a_discard_ends_a_wait(live: Any) -> None:
    server = live
    waiting = server.send("prepare", config={**server.settings, "engine_addresses": ["ipc:///tmp/nowhere-3"]})
    assert "there is a candidate already" in server.prepare()["error"]
    assert server.tell("discard") == {}
    assert server.answers.of(waiting) == {"error": "it was discarded before it had proven itself"}
    assert "proof" in server.prepare()
    assert "there is a candidate already" in server.prepare()["error"]
    assert server.tell("discard") == {}
    assert server.tell("discard") == {}
    server.switch()


def test_nonsense_on_the_pipe_and_its_end_harm_nothing(boot: Any) -> None:
    server = boot()
    server.process.stdin.write('nonsense\n{"type": "unknown", "reference": 3}\n\n')
    server.process.stdin.flush()
    assert server.tell("discard") == {}
    server.process.stdin.close()
    server.until(lambda: "cannot be read" in server.log.read_text(), "the log says so")
    assert server.complete("ab").status_code == 200
    assert server.end() == 0


def test_no_outsider_gets_in_by_the_door_of_the_proofs(boot: Any) -> None:
    server = boot(environment={"APPLIANCE_TEST_KEY": "the-right-key"}, api_keys=[{"env": "APPLIANCE_TEST_KEY"}])
    assert "chat" in server.prepare()["proof"]
    for headers in ({"appliance.inside": "true"}, {"host": "inside"}, {"X-Appliance-Inside": "1"}):
        assert httpx.get(f"{server.url}/v1/models", headers=headers).status_code == 401


def test_what_the_supervisor_tells_stands_in_the_metrics(live: Any) -> None:
    server = live
    assert metric(server, "appliance_config_last_reload_successful") == [({}, 1.0)]
    facts = {"last_successful": False, "last_success_time": 1234.5, "sync": "Invalid"}
    assert server.tell("tell", reload=facts) == {}
    assert metric(server, "appliance_config_last_reload_successful") == [({}, 0.0)]
    assert metric(server, "appliance_config_last_reload_success_timestamp_seconds") == [({}, 1234.5)]
    assert [labels["state"] for labels, value in metric(server, "appliance_config_sync") if value] == ["Invalid"]


async def _stream(client: httpx.AsyncClient, prompt: str, tokens: int) -> None:
    body = {"prompt": prompt, "max_tokens": tokens, "stream": True}
    async with client.stream("POST", "/v1/completions", json=body) as stream:
        assert stream.status_code == 200, await stream.aread()
        text = text_of([line async for line in stream.aiter_lines()])
    assert text == (prompt * tokens)[:tokens]


def test_a_hundred_switches_under_load_lose_nothing_and_leave_nothing(boot: Any) -> None:
    """Every second one to another engine."""
    server = boot()
    second = server.another_engine("second")
    process = psutil.Process(server.process.pid)

    def round_of(switches: int) -> int:
        done = 0
        addresses = [server.engine.address, second.address]

        async def work(stop: asyncio.Event, client: httpx.AsyncClient, number: int) -> None:
            nonlocal done
            while not stop.is_set():
                await _stream(client, f"client {number} ", 30)
                done += 1

        async def run() -> None:
            stop = asyncio.Event()
            async with httpx.AsyncClient(base_url=server.url, timeout=60) as client:
                workers = [asyncio.create_task(work(stop, client, number)) for number in range(8)]
                for number in range(switches):
                    changes = {"engine_addresses": [addresses[number // 2 % 2]], "revision": number + 2}
                    await asyncio.to_thread(server.switch, probe=number % 10 == 0, **changes)
                stop.set()
                await asyncio.gather(*workers)

        asyncio.run(run())
        return done

    assert round_of(20)
    server.until(lambda: server.idle() and second.journal["running"] == 0, "both engines are idle")
    server.until(lambda: process.num_fds() < 60, "the connections are closed")
    files, memory = process.num_fds(), process.memory_info().rss
    assert round_of(100)
    server.until(lambda: process.num_fds() <= files + 2, "no file descriptor stays open")
    assert process.memory_info().rss - memory < 24 << 20
    assert process.num_threads() < 60
    assert "Traceback" not in server.log.read_text()
    assert [value for _, value in metric(server, "appliance_queue_requests")] == [0.0]


def test_a_drain_ends_a_server_that_was_switched(boot: Any) -> None:
    server = boot(engine=SLOW)
    second = server.another_engine("second")
    with httpx.Client(base_url=server.url, timeout=30) as other:
        body = {"prompt": "ab", "max_tokens": 30, "stream": True}
        with other.stream("POST", "/v1/completions", json=body) as stream:
            lines = stream.iter_lines()
            first = next(lines)
            server.switch(engine_addresses=[second.address])
            os.kill(server.process.pid, signal.SIGTERM)
            assert text_of([first, *lines]) == "ab" * 15
    assert server.process.wait(20) == 0
