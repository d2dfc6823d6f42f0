"""Requests through our server to a (fake) vLLM: what goes through, what does not, and what is filled in.

The shared server takes on the state that a test wants.
"""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from proxied import FakeVllm, Proxy, events
from waiting import until


def test_answers_and_streams_come_through(fake: FakeVllm, server: Proxy) -> None:
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


def test_only_routes_of_the_table_lead_to_vllm(fake: FakeVllm, server: Proxy) -> None:
    server.become(endpoints={"completions": "off", "embeddings": "off", "transcriptions": "off"})
    for path in ("/invocations", "/sleep", "/v1/load_lora_adapter", "/v1/completions", "/v1/embeddings", "/fake"):
        assert server.http.post(path, json={}).status_code == 404, path
        assert server.http.get(path).status_code in (404, 405), path
    assert {one["path"] for one in fake.ask()["seen"]} <= {"/v1/chat/completions", "/v1/systemone"}


def test_keys_guard_everything_and_never_reach_vllm(fake: FakeVllm, server: Proxy, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("a-secret-key\n")
    server.become(api_keys=({"file": str(tmp_path / "key")},), metrics_open=False)
    assert server.chat("hi there").status_code == 401
    assert server.http.get("/metrics").status_code == 401
    server.http.headers["Authorization"] = "Bearer a-secret-key"
    assert server.chat("hi there").status_code == 200
    assert "a-secret-key" not in json.dumps(fake.ask())


def test_bad_requests_end_here(fake: FakeVllm, server: Proxy) -> None:
    server.become(queue_requests=4)
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


def test_bodies_and_their_form(fake: FakeVllm, server: Proxy) -> None:
    server.become(body_bytes=2000)
    assert server.chat("x" * 3000).status_code == 413
    assert server.http.post("/v1/chat/completions", content=b"{").status_code == 400
    assert server.http.post("/v1/chat/completions", content=b"[]").status_code == 400
    assert (
        server.http.post("/v1/chat/completions", content=b"x", headers={"Content-Type": "text/html"}).status_code == 415
    )


def test_output_default_and_overflow(fake: FakeVllm, server: Proxy) -> None:
    server.become(max_tokens_default=7, max_tokens_overflow="reject")
    server.chat("no length")
    server.chat("own length", max_completion_tokens=3)
    server.http.post("/v1/responses", json={"model": "tiny", "input": "x"})
    assert [one["body"].get("max_tokens") for one in fake.work()] == [7, None]
    assert fake.work("/v1/responses")[0]["body"]["max_output_tokens"] == 7
    refused = server.chat("a b c d", max_tokens=61)
    assert refused.status_code == 400
    assert "61 and a prompt of 4 tokens pass the context of 64" in refused.json()["error"]["message"]
    assert server.chat("a b c d", max_tokens=60).status_code == 200


def test_models_ids_headers_and_what_vllm_lacks(fake: FakeVllm, server: Proxy) -> None:
    server.become(endpoints={"embeddings": "off"})
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


def test_queue_limits(fake: FakeVllm, server: Proxy) -> None:
    server.become(queue_requests=1)
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


def test_a_client_that_leaves_ends_the_work(fake: FakeVllm, server: Proxy) -> None:
    messages, before = [{"role": "user", "content": "wait"}], fake.ask()["aborted"]
    with httpx.Client(base_url=server.url, timeout=httpx.Timeout(1.0, read=0.5)) as client:
        with pytest.raises(httpx.ReadTimeout):
            client.post("/v1/chat/completions", json={"model": "tiny", "messages": messages})
        until(lambda: fake.ask()["aborted"] == before + 1, "aborted before an answer")
        messages[0]["content"] = "count 5000"
        body = {"model": "tiny", "messages": messages, "stream": True}
        with client.stream("POST", "/v1/chat/completions", json=body) as running:
            next(running.iter_lines())
    until(lambda: fake.ask()["aborted"] == before + 2, "aborted in a stream")
