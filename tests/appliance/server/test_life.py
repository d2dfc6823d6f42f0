"""Boot, death and return of the engine, leaving clients, full queues, the drain, the numbers."""

import concurrent.futures
import json
import re
import signal
import threading
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

SLOW = {"step": 0.05}


def test_it_answers_before_the_engine_is_up(boot: Any) -> None:
    server = boot(boot_engine=False)
    assert server.http.get("/health").json() == {"alive": True, "reason": "the engine is booting"}
    ready = server.http.get("/ready")
    assert ready.status_code == 503 and ready.headers["retry-after"]
    assert ready.json()["checks"]["engine"]["ok"] is False and ready.json()["reason"]
    refused = server.complete("ab")
    assert refused.status_code == 503 and int(refused.headers["retry-after"]) > 0
    assert refused.json()["error"]["type"] == "ServiceUnavailableError"
    assert server.http.post("/tokenize", json={"prompt": "ab"}).json()["count"] == 2
    server.engine.start()
    server.wait_ready()
    assert server.complete("ab").status_code == 200


def test_ready_says_what_holds_per_required_endpoint(server: Any) -> None:
    checks = server.http.get("/ready").json()["checks"]
    assert set(checks) == {"engine", "chat", "completions"}
    assert "RepeatForCausalLM" in checks["engine"]["detail"]


def test_a_required_endpoint_that_cannot_work_keeps_ready_away(boot: Any, tmp_path: Any) -> None:
    template = tmp_path / "refuses.jinja"
    template.write_text("{{ raise_exception('no chats today') }}")
    server = boot(chat_template=str(template), boot_engine=False)
    server.engine.start()
    answer = server.until(lambda: "chat" in (body := server.http.get("/ready").json())["checks"] and body, "the probe")
    assert not answer["ready"]
    assert "no chats today" in answer["reason"]
    assert server.http.get("/health").status_code == 200
    assert server.complete("ab").status_code == 200
    server.until(lambda: "no chats today" in server.log.read_text(), "the log says why")


def test_the_engine_dies_under_a_request_and_comes_back(boot: Any) -> None:
    server = boot()
    dying = server.complete([97, 258], max_tokens=5)
    assert dying.status_code == 503 and dying.headers["retry-after"]
    server.until(lambda: server.http.get("/health").status_code == 503, "not healthy")
    assert server.http.get("/ready").status_code == 503
    assert server.complete("ab").status_code == 503
    server.engine.stop()
    server.engine.start()
    server.wait_ready()
    assert server.http.get("/health").status_code == 200
    assert server.complete("ab", max_tokens=2).json()["choices"][0]["text"] == "ab"


def test_the_engine_dies_under_a_stream(boot: Any) -> None:
    server = boot(engine=SLOW)
    with server.http.stream(
        "POST", "/v1/completions", json={"prompt": "ab", "max_tokens": 200, "stream": True}
    ) as stream:
        lines = stream.iter_lines()
        assert "ab"[0] in next(lines)
        server.engine.process.send_signal(signal.SIGKILL)
        rest = [line.removeprefix("data: ") for line in lines if line]
    assert rest[-1] == "[DONE]"
    assert json.loads(rest[-2])["error"]["code"] == 503


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("n", [1, 3])
def test_a_client_that_leaves_frees_its_slots(server: Any, stream: bool, n: int) -> None:
    before = server.engine.journal
    body = {"prompt": "ab" * 20, "max_tokens": 200, "n": n, "stream": stream, "ignore_eos": True}
    with httpx.Client(base_url=server.url) as client:
        if stream:
            with client.stream("POST", "/v1/completions", json=body) as response:
                next(response.iter_lines())
        else:
            with pytest.raises(httpx.ReadTimeout):
                client.post("/v1/completions", json=body, timeout=httpx.Timeout(0.1, connect=5))
    server.until(lambda: server.engine.journal["aborted"] == before["aborted"] + n, "the engine was told")
    assert server.engine.journal["submitted"] == before["submitted"] + n
    assert server.idle()


def test_sixty_four_clients_at_once(server: Any) -> None:
    def one(number: int) -> str:
        prompt = f"client {number} "
        body = {"prompt": prompt, "max_tokens": 20, "stream": number % 2 == 0}
        with httpx.Client(base_url=server.url, timeout=60) as client:
            answer = client.post("/v1/completions", json=body)
        assert answer.status_code == 200
        if not body["stream"]:
            return answer.json()["choices"][0]["text"]
        chunks = [json.loads(line[6:]) for line in answer.text.split("\n\n") if line.startswith("data: {")]
        return "".join(chunk["choices"][0]["text"] for chunk in chunks)

    with concurrent.futures.ThreadPoolExecutor(64) as pool:
        texts = list(pool.map(one, range(64)))
    assert texts == [(f"client {number} " * 3)[:20] for number in range(64)]
    server.until(server.idle, "all slots are free")


def test_a_full_queue_of_requests(boot: Any) -> None:
    server = boot(queue_requests=2, engine=SLOW)
    body = {"prompt": "ab", "max_tokens": 200, "n": 2}
    assert server.complete("ab", n=3).status_code == 400
    with (
        httpx.Client(base_url=server.url, timeout=30) as other,
        other.stream("POST", "/v1/completions", json=body | {"stream": True}),
    ):
        refused = server.complete("ab")
        assert refused.status_code == 503 and refused.headers["retry-after"]
        assert "2 of 2" in refused.json()["error"]["message"]
    server.until(lambda: server.complete("ab", max_tokens=1).status_code == 200, "the places are free again")
    assert numbers(server)["vllm:admission_rejections_total", "max_num_queued_reqs"] >= 1


def test_a_full_queue_of_prompt_tokens(boot: Any) -> None:
    server = boot(queue_tokens=10, engine={"slots": 1, "step": 0.05})
    ahead = {"prompt": "a" * 5, "max_tokens": 200, "stream": True}
    waits = {"prompt": "a" * 20, "max_tokens": 1}
    with (
        httpx.Client(base_url=server.url, timeout=30) as other,
        other.stream("POST", "/v1/completions", json=ahead) as stream,
    ):
        lines = stream.iter_lines()
        next(lines)
        waiting = threading.Thread(target=lambda: httpx.post(f"{server.url}/v1/completions", json=waits, timeout=30))
        waiting.start()
        server.until(lambda: server.engine.journal["running"] == 2, "one waits")
        refused = server.complete("ab")
        assert refused.status_code == 503 and "20 prompt tokens" in refused.text
    waiting.join()
    assert server.complete("ab").status_code == 200


def test_sigterm_finishes_what_runs_and_refuses_what_is_new(boot: Any) -> None:
    server = boot(engine=SLOW)
    with httpx.Client(base_url=server.url, timeout=30) as other:
        body = {"prompt": "ab", "max_tokens": 20, "stream": True}
        with other.stream("POST", "/v1/completions", json=body) as stream:
            lines = stream.iter_lines()
            first = next(lines)
            server.process.send_signal(signal.SIGTERM)
            server.until(lambda: server.http.get("/ready").status_code == 503, "not ready any more")
            assert server.http.get("/health").status_code == 200
            refused = server.complete("ab")
            assert refused.status_code == 503 and refused.headers["retry-after"]
            text = "".join(re.findall(r'"text":"(\w*)"', "".join([first, *lines])))
    assert text == "ab" * 10
    assert server.process.wait(20) == 0


def test_the_drain_has_an_end(boot: Any) -> None:
    server = boot(engine=SLOW, drain_seconds=0.3)
    with httpx.Client(base_url=server.url, timeout=30) as other:
        body = {"prompt": "ab", "max_tokens": 200, "stream": True}
        with other.stream("POST", "/v1/completions", json=body) as stream:
            lines = stream.iter_lines()
            next(lines)
            assert server.end() == 0
            assert "shut down while it answered" in "".join(lines)
    server.until(lambda: server.engine.journal["aborted"] == 1, "the engine was told")
    assert "Traceback" not in server.log.read_text()


def numbers(server: Any) -> dict[tuple[str, ...], float]:
    found = {}
    for family in text_string_to_metric_families(server.http.get("/metrics").text):
        for sample in family.samples:
            more = [v for k, v in sample.labels.items() if k not in ("engine", "model_name")]
            found[(sample.name, *more)] = sample.value
    return found


def test_metrics_have_the_names_that_dashboards_look_for(server: Any) -> None:
    before = numbers(server)
    server.complete("abc", max_tokens=5)
    server.complete("abc", max_tokens=5, stop="c")
    after = numbers(server)

    def grew(*name: str) -> float:
        return after[name] - before[name]

    assert grew("vllm:prompt_tokens_total") == 6
    assert grew("vllm:generation_tokens_total") == 8
    assert grew("vllm:request_success_total", "length") == grew("vllm:request_success_total", "stop") == 1
    for name in (
        "time_to_first_token_seconds",
        "e2e_request_latency_seconds",
        "request_queue_time_seconds",
        "request_prefill_time_seconds",
        "request_decode_time_seconds",
        "request_inference_time_seconds",
        "request_prompt_tokens",
        "request_generation_tokens",
        "request_params_n",
        "request_params_max_tokens",
        "request_num_preemptions",
    ):
        assert grew(f"vllm:{name}_count") == 2, name
    assert grew("vllm:inter_token_latency_seconds_count") == 6
    for name in ("num_requests_running", "num_requests_waiting", "kv_cache_usage_perc"):
        assert (f"vllm:{name}",) in after
    for name in ("prefix_cache_queries", "prefix_cache_hits", "num_preemptions", "prompt_tokens_cached"):
        assert (f"vllm:{name}_total",) in after
    steps = server.until(
        lambda: (now := numbers(server))["vllm:iteration_tokens_total_sum",] and now, "steps were told"
    )
    name = "vllm:iteration_tokens_total"
    assert steps[f"{name}_bucket", "1.0"] == 0 < steps[f"{name}_bucket", "8.0"]
    assert steps[f"{name}_bucket", "16.0"] == steps[f"{name}_bucket", "+Inf"] == steps[f"{name}_count",]
    assert steps[f"{name}_count",] == steps[f"{name}_bucket", "8.0"] + 1
    (info,) = [key for key in after if key[0] == "vllm:cache_config_info"]
    assert {"16", "256", "bfloat16", "4096"} <= set(info)
    for name, value in (("slots", 32), ("free_slots", 32), ("blocks", 256), ("free_blocks", 100), ("cached_blocks", 7)):
        assert after[f"appliance_engine_{name}",] == value
    assert after["appliance_config_last_reload_successful",] == 1
    assert after["appliance_engine_up",] == 1


def test_log_lines_as_json(boot: Any) -> None:
    server = boot(log_format="json")
    server.http.get("/nothing%0aforged")
    lines = server.until(lambda: [t for t in server.log.read_text().splitlines() if "nothing" in t], "the access log")
    entry = json.loads(lines[0])
    assert (entry["method"], entry["status"], entry["path"]) == ("GET", 404, "/nothing\nforged")


def test_a_client_cannot_forge_a_log_line(server: Any) -> None:
    server.http.get("/a%0aforged%1b[31m")
    server.until(lambda: r"/a\nforged\x1b[31m" in server.log.read_text(), "the access log")
