"""Requests through our server to (fake) vLLM processes: what goes through, what does not, and what failures become."""

import json
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from .conftest import FakeVllm, Proxy, until

Vllm = Callable[..., FakeVllm]
Make = Callable[..., Proxy]


def events(response: httpx.Response) -> list[str]:
    return [line.removeprefix("data: ") for line in response.text.splitlines() if line.startswith("data: ")]


def test_answers_and_streams_come_through(vllm: Vllm, proxy: Make) -> None:
    fake = vllm()
    server = proxy(fake)
    answer = server.chat("hello")
    assert answer.json()["choices"][0]["message"]["content"] == "yes"
    streamed = server.chat("count 5", stream=True)
    assert streamed.headers["x-own"] == "fake"
    assert (
        "".join(json.loads(event)["choices"][0]["delta"]["content"] for event in events(streamed)[:-1]) == "0 1 2 3 4 "
    )
    assert events(streamed)[-1] == "[DONE]"
    assert server.http.post("/v1/systemone", json={"state": "x", "questions": {}}).json()["answers"]
    assert server.http.post("/tokenize", json={"prompt": "a b c"}).json()["count"] == 3


def test_ready_means_that_real_answers_came_out(vllm: Vllm, proxy: Make) -> None:
    fake = vllm()
    server = proxy(fake)
    paths = [one["path"] for one in fake.ask()["seen"]]
    assert {"/v1/chat/completions", "/v1/completions", "/v1/systemone"} <= set(paths)
    assert server.http.get("/ready").json()["checks"]["engine"]["ok"]


def test_a_vllm_that_answers_without_tokens_is_not_ready(vllm: Vllm, proxy: Make) -> None:
    server = proxy(vllm(mode="refuses"), ready=False)
    reason = until(lambda: "the fake refuses" in (told := server.http.get("/ready").json())["reason"] and told, "told")
    assert not reason["ready"]


def test_only_routes_of_the_table_lead_to_vllm(vllm: Vllm, proxy: Make) -> None:
    fake = vllm()
    server = proxy(fake, endpoints={"completions": "off", "embeddings": "off", "transcriptions": "off"})
    for path in ("/invocations", "/sleep", "/v1/load_lora_adapter", "/v1/completions", "/v1/embeddings", "/fake"):
        assert server.http.post(path, json={}).status_code == 404, path
        assert server.http.get(path).status_code in (404, 405), path
    assert {one["path"] for one in fake.ask()["seen"]} <= {"/v1/chat/completions", "/v1/systemone"}


def test_keys_guard_everything_and_never_reach_vllm(vllm: Vllm, proxy: Make, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("a-secret-key\n")
    fake = vllm()
    server = proxy(fake, api_keys=({"file": str(tmp_path / "key")},), metrics_open=False)
    assert server.chat("hi there").status_code == 401
    assert server.http.get("/metrics").status_code == 401
    server.http.headers["Authorization"] = "Bearer a-secret-key"
    assert server.chat("hi there").status_code == 200
    assert "a-secret-key" not in json.dumps(fake.ask())


def test_bad_requests_end_here(vllm: Vllm, proxy: Make) -> None:
    fake = vllm()
    server = proxy(fake, queue_requests=4)
    cases: list[tuple[dict[str, Any], str]] = [
        ({"guided_json": {}}, "structured_outputs"),
        ({"response_format": json.loads("[" * 70 + "]" * 70)}, "nests deeper than 64"),
        ({"n": 9}, "the queue holds 4"),
    ]
    for body, words in cases:
        answer = server.chat("hi there", **body)
        assert answer.status_code == 400
        assert words in answer.json()["error"]["message"]
    assert fake.work() == []


def test_bodies_and_their_form(vllm: Vllm, proxy: Make) -> None:
    server = proxy(vllm(), body_bytes=2000)
    assert server.chat("x" * 3000).status_code == 413
    assert server.http.post("/v1/chat/completions", content=b"{").status_code == 400
    assert server.http.post("/v1/chat/completions", content=b"[]").status_code == 400
    assert (
        server.http.post("/v1/chat/completions", content=b"x", headers={"Content-Type": "text/html"}).status_code == 415
    )


def test_output_default_and_overflow(vllm: Vllm, proxy: Make) -> None:
    fake = vllm()
    server = proxy(fake, max_tokens_default=7, max_tokens_overflow="reject")
    server.chat("no length")
    server.chat("own length", max_completion_tokens=3)
    server.http.post("/v1/responses", json={"model": "tiny", "input": "x"})
    assert [one["body"].get("max_tokens") for one in fake.work()] == [7, None]
    assert fake.work("/v1/responses")[0]["body"]["max_output_tokens"] == 7
    refused = server.chat("a b c d", max_tokens=61)
    assert refused.status_code == 400
    assert "61 and a prompt of 4 tokens pass the context of 64" in refused.json()["error"]["message"]
    assert server.chat("a b c d", max_tokens=60).status_code == 200


def test_models_ids_headers_and_what_vllm_lacks(vllm: Vllm, proxy: Make) -> None:
    fake = vllm()
    server = proxy(fake, endpoints={"embeddings": "off"})
    card = server.http.get("/v1/models").json()["data"][0]
    assert (card["id"], card["max_model_len"], card["owned_by"]) == ("tiny", 64, "appliance")
    assert server.http.get("/v1/models/tiny").json() == card
    assert server.http.get("/v1/models/other").status_code == 404
    assert server.http.get("/version").json()["release"] == "0.32"
    sound = {"file": ("a.wav", b"RIFF", "audio/wav")}
    lacking = server.http.post("/v1/audio/transcriptions", files=sound, data={"model": "tiny"})
    assert lacking.status_code == 501
    assert "cannot serve /v1/audio/transcriptions" in lacking.json()["error"]["message"]
    server.http.headers.update({"X-Request-Id": "mine", "Cookie": "a=b", "X-Forwarded-For": "1.2.3.4"})
    answer = server.chat("hi there")
    assert answer.headers["x-request-id"] == "mine"
    assert "server" not in answer.headers
    seen = fake.work()[0]["headers"]
    assert seen["x-request-id"] == "mine"
    assert not {"cookie", "x-forwarded-for", "authorization"} & set(seen)


def test_queue_limits(vllm: Vllm, proxy: Make) -> None:
    fake = vllm()
    server = proxy(fake, queue_requests=1)
    with httpx.Client(base_url=server.url, timeout=None) as client:
        body = {"model": "tiny", "messages": [{"role": "user", "content": "count 200"}], "stream": True}
        with client.stream("POST", "/v1/chat/completions", json=body) as running:
            lines = running.iter_lines()
            next(lines)
            full = server.chat("hi there")
            assert full.status_code == 503
            assert full.headers["retry-after"]
            assert "1 of 1" in full.json()["error"]["message"]
    until(lambda: server.chat("hi there").status_code == 200, "room again")


def test_a_client_that_leaves_ends_the_work(vllm: Vllm, proxy: Make) -> None:
    fake = vllm()
    server = proxy(fake)
    messages = [{"role": "user", "content": "wait 60"}]
    with httpx.Client(base_url=server.url, timeout=httpx.Timeout(1.0, read=0.5)) as client:
        with pytest.raises(httpx.ReadTimeout):
            client.post("/v1/chat/completions", json={"model": "tiny", "messages": messages})
        until(lambda: fake.ask()["aborted"] == 1, "aborted before an answer")
        messages[0]["content"] = "count 5000"
        body = {"model": "tiny", "messages": messages, "stream": True}
        with client.stream("POST", "/v1/chat/completions", json=body) as running:
            next(running.iter_lines())
    until(lambda: fake.ask()["aborted"] == 2, "aborted in a stream")


def test_the_least_loaded_replica_is_asked(vllm: Vllm, proxy: Make) -> None:
    first, second = vllm("a"), vllm("b")
    server = proxy(first, second)
    body = {"model": "tiny", "messages": [{"role": "user", "content": "count 500"}], "stream": True}
    with server.http.stream("POST", "/v1/chat/completions", json=body) as running:
        lines = running.iter_lines()
        next(lines)
        busy, idle = (first, second) if first.work() else (second, first)
        for _ in range(4):
            assert server.chat("hi there").status_code == 200
    assert len(busy.work()) == 1
    assert len(idle.work()) == 4


def test_numbers_of_all_replicas_under_one_address(vllm: Vllm, proxy: Make) -> None:
    server = proxy(vllm("a"), vllm("b"))
    text = server.http.get("/metrics").text
    assert len(re.findall(r"^# TYPE vllm:generation_tokens_total counter$", text, re.MULTILINE)) == 1
    families = {family.name: family for family in text_string_to_metric_families(text)}
    running = {sample.labels["engine"]: sample.value for sample in families["vllm:num_requests_running"].samples}
    assert running == {"0": 1.0, "1": 1.0}
    assert {sample.value for sample in families["vllm:generation_tokens"].samples} == {7.0}
    assert [sample.value for sample in families["appliance_engine_up"].samples] == [1.0, 1.0]
    assert "appliance_config_info" in families
    assert "python_info" not in families


def test_death_in_a_stream_is_told_in_the_stream(vllm: Vllm, proxy: Make) -> None:
    server = proxy(vllm())
    streamed = server.chat("die now", stream=True)
    assert streamed.status_code == 200
    told = events(streamed)
    assert json.loads(told[0])["choices"][0]["delta"]["content"] == "0 "
    error = json.loads(told[-2])["error"]
    assert (error["code"], error["type"]) == (503, "ServiceUnavailableError")
    assert told[-1] == "[DONE]"


def test_death_of_the_only_replica_and_its_return(vllm: Vllm, proxy: Make) -> None:
    fake = vllm()
    server = proxy(fake)
    fake.stop()
    answer = server.chat("hi there")
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "2"
    assert "not serving" in answer.json()["error"]["message"] or "stopped" in answer.json()["error"]["message"]
    until(lambda: server.http.get("/ready").status_code == 503, "not ready")
    assert server.http.get("/health").status_code == 503
    fake.start()
    server.wait_ready()
    assert server.chat("hi there").status_code == 200


def test_no_request_fails_when_one_of_two_replicas_dies(vllm: Vllm, proxy: Make) -> None:
    first, second = vllm("a"), vllm("b")
    server = proxy(first, second)
    stop, results = threading.Event(), []

    def ask() -> None:
        while not stop.is_set():
            results.append(server.chat("hi there").status_code)

    workers = [threading.Thread(target=ask) for _ in range(2)]
    for worker in workers:
        worker.start()
    until(lambda: len(results) > 20, "some answers")
    first.stop()
    known = len(results)
    until(lambda: len(results) > known + 20, "more answers")
    stop.set()
    for worker in workers:
        worker.join()
    assert set(results) == {200}


def test_a_new_generation_takes_over_and_the_old_one_finishes(vllm: Vllm, proxy: Make) -> None:
    old, new = vllm("a"), vllm("b")
    server = proxy(old)
    body = {"model": "tiny", "messages": [{"role": "user", "content": "count 60"}], "stream": True}
    with server.http.stream("POST", "/v1/chat/completions", json=body) as running:
        lines = running.iter_lines()
        next(lines)
        prepared = server.tell("prepare", config={"engine_addresses": (new.address,), "generation": 2})
        assert prepared["error"] is None
        assert "token" in prepared["proof"]["chat"]
        assert "noul" in prepared["proof"]["decision"]
        server.tell("switch")
        assert server.chat("hi there").status_code == 200
        server.send("retire", addresses=[old.address], seconds=20, carry=False)
        assert [line for line in lines if line][-1] == "data: [DONE]"
    assert server.answer()["finished"] == 1
    assert len(new.work()) == 1


def test_unanswered_work_is_carried_to_the_next_generation(vllm: Vllm, proxy: Make) -> None:
    old, new = vllm("a"), vllm("b")
    server = proxy(old)
    answers: list[httpx.Response] = []
    worker = threading.Thread(target=lambda: answers.append(server.chat("wait 3")))
    worker.start()
    until(old.work, "it runs")
    server.tell("hold", requests=10, seconds=20)
    server.send("retire", addresses=[old.address], seconds=0, carry=True)
    assert server.answer()["carried"] == 1
    old.stop()
    server.tell("prepare", config={"engine_addresses": (new.address,), "generation": 2})
    server.tell("switch")
    worker.join()
    assert answers[0].status_code == 200
    assert len(new.work()) == 1


def test_a_candidate_that_does_not_answer_is_refused(vllm: Vllm, proxy: Make) -> None:
    server = proxy(vllm("a"))
    refused = server.tell("prepare", config={"engine_addresses": (vllm("b", "refuses").address,)}, seconds=20)
    assert "the fake refuses" in refused["error"]
    late = server.tell("prepare", config={"engine_addresses": (vllm("c", "hang").address,)}, seconds=1)
    assert late["error"].startswith("no answer from vLLM within ")
    assert server.chat("hi there").status_code == 200


def test_adapters_come_and_go(vllm: Vllm, proxy: Make, tmp_path: Path) -> None:
    fake = vllm()
    server = proxy(fake)
    (tmp_path / "polite").mkdir()
    wanted = {"adapters": {"polite": str(tmp_path / "polite")}}
    missing = server.tell("prepare", config={"adapters": {"gone": str(tmp_path / "gone")}})
    assert "the adapter gone cannot be loaded: no adapter at" in missing["error"]
    assert server.tell("prepare", config=wanted)["error"] is None
    server.tell("switch")
    cards = {card["id"]: card["parent"] for card in server.http.get("/v1/models").json()["data"]}
    assert cards == {"tiny": None, "polite": "tiny"}
    server.tell("prepare", config={})
    server.tell("switch")
    until(lambda: fake.ask()["adapters"] == {}, "unloaded")
    server.tell("prepare", config=wanted)
    assert fake.ask()["adapters"] == wanted["adapters"]
    server.tell("discard")
    until(lambda: fake.ask()["adapters"] == {}, "a dropped candidate takes its adapters back")


def test_an_adapter_that_changed_in_its_folder_is_loaded_again(vllm: Vllm, proxy: Make, tmp_path: Path) -> None:
    fake = vllm()
    (tmp_path / "polite").mkdir()
    wanted = {"adapters": {"polite": str(tmp_path / "polite")}}
    server = proxy(fake, **wanted)

    def loads() -> list[bool]:
        return [seen["body"]["load_inplace"] for seen in fake.ask()["seen"] if "load_inplace" in (seen["body"] or {})]

    before = loads()
    assert server.tell("prepare", config=wanted)["error"] is None
    server.tell("switch")
    assert loads() == before == [False]
    (tmp_path / "polite/adapter_config.json").write_text("{}")
    assert server.tell("prepare", config=wanted)["error"] is None
    server.tell("switch")
    assert loads() == [False, True]


def test_adapters_are_back_after_a_death(vllm: Vllm, proxy: Make, tmp_path: Path) -> None:
    (tmp_path / "polite").mkdir()
    fake = vllm()
    server = proxy(fake, adapters={"polite": str(tmp_path / "polite")})
    assert fake.ask()["adapters"]
    fake.stop()
    until(lambda: server.http.get("/ready").status_code == 503, "not ready")
    fake.start()
    server.wait_ready()
    assert fake.ask()["adapters"] == {"polite": str(tmp_path / "polite")}


def test_elastic_experts_scale_while_requests_come(vllm: Vllm, proxy: Make) -> None:
    fake = vllm()
    server = proxy(fake, elastic_size=1)
    statuses: list[int] = []
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            statuses.append(server.chat("hi there").status_code)

    worker = threading.Thread(target=ask)
    worker.start()
    assert server.tell("prepare", config={"elastic_size": 3})["error"] is None
    assert fake.ask()["engines"] == 3
    server.tell("switch")
    too_many = server.tell("prepare", config={"elastic_size": 9})
    assert "vLLM cannot scale to 9 engines" in too_many["error"]
    server.tell("prepare", config={"elastic_size": 2})
    server.tell("discard")
    until(lambda: fake.ask()["engines"] == 3, "a dropped candidate gives its engines back")
    stop.set()
    worker.join()
    assert set(statuses) == {200}


def test_drain_finishes_streams(vllm: Vllm, proxy: Make) -> None:
    server = proxy(vllm())
    body = {"model": "tiny", "messages": [{"role": "user", "content": "count 40"}], "stream": True}
    with server.http.stream("POST", "/v1/chat/completions", json=body) as running:
        lines = running.iter_lines()
        next(lines)
        server.process.terminate()
        assert [line for line in lines if line][-1] == "data: [DONE]"
    assert server.process.wait(20) == 0
