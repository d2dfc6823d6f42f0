"""Several (fake) vLLMs behind one server: who is asked, their numbers, and what their deaths become."""

import json
import re
import threading

from prometheus_client.parser import text_string_to_metric_families
from proxied import Make, Vllm, events
from waiting import until


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
    assert server.http.get("/ready").json()["reason"].endswith("died and is not back: nothing listens on its socket")
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
