"""/v1/systemone where it cannot answer: wrong requests, models that cannot decide, full queues, dead engines."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from decision_stack import Engines, Stack, boot_engine, serve
from waiting import until


def test_the_official_client_reads_refusals(one: Stack) -> None:
    from typesafe_sdk import Noul, TypeSafeBadRequestError, TypeSafeClient, TypeSafeNotFoundError

    with TypeSafeClient(base_url=one.url, api_key="unused") as client:
        with pytest.raises(TypeSafeNotFoundError, match=r'the model "jev" does not exist.*tiny, alias'):
            client.system_one("x", {"q": Noul(instructions="?")}, model="jev")
        with pytest.raises(TypeSafeBadRequestError, match="two or more levels"):
            client.system_one("x", {"q": {"type": "score", "criteria": ["one"]}}, model="tiny")


NOUL = {"q": {"type": "noul"}}


@pytest.mark.parametrize(
    ("body", "param", "says"),
    [
        ({"questions": NOUL}, "state", "state: field required"),
        ({"state": "x"}, "questions", "questions: field required"),
        ({"state": "x", "questions": {}}, "questions", "there must be at least one"),
        ({"state": "x", "questions": []}, "questions", "questions: "),
        ({"state": "x", "questions": {"q": 1}}, "questions.q", "questions.q: "),
        ({"state": "x", "questions": {"q": {"type": "noul", "b": 1, "a": 1}}}, "questions", "unknown fields: a, b"),
        ({"state": "x", "questions": {f"q{i}": NOUL["q"] for i in range(65)}}, "questions", "at most 64, got 65"),
        ({"state": "x", "questions": NOUL, "cache_salt": ""}, "cache_salt", "1 to 128 characters"),
        ({"state": "x", "questions": NOUL, "cache_salt": "s" * 129}, "cache_salt", "1 to 128 characters"),
        ({"state": "x", "questions": NOUL, "cache_salt": "a@b"}, "cache_salt", "none of @"),
        ({"state": "x", "questions": NOUL, "cache_salt": "a/b"}, "cache_salt", "none of @"),
        ({"state": "x", "questions": NOUL, "cache_salt": "a\\b"}, "cache_salt", "none of @"),
        ({"state": "x", "questions": NOUL, "cache_salt": "a\0b"}, "cache_salt", "none of @"),
        ({"state": "x", "questions": NOUL, "cache_salt": 5}, "cache_salt", "cache_salt: "),
        ({"state": "x", "questions": NOUL, "instructions": 5}, "instructions", "instructions: "),
        ({"state": "x", "questions": NOUL, "priority": 2**63}, "priority", "priority: "),
        ({"state": "x", "questions": NOUL, "images": ["http://x"]}, "images", "does not take image inputs"),
        ({"state": "x", "questions": NOUL, "audio": ["http://x"]}, "audio", "does not take audio inputs"),
        ({"state": "x", "questions": NOUL, "videos": ["http://x"]}, "videos", "does not take video inputs"),
        (
            {"state": "x", "questions": NOUL, "chat_template_kwargs": {"enable_thinking": True}},
            "chat_template_kwargs",
            "enable_thinking must be off",
        ),
        ({"state": "river " * 170_000, "questions": NOUL}, "state", "the context holds 512"),
    ],
)
def test_wrong_requests_are_told(one: Stack, body: dict[str, Any], param: str, says: str) -> None:
    response = one.http.post("/v1/systemone", json=body)
    error = response.json()["error"]
    assert response.status_code == 400 and error["code"] == 400 and error["type"] == "BadRequestError"
    assert error["param"] == param
    assert says.lower() in error["message"].lower()


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (b'{"state": NaN, "questions": {"q": {"type": "noul"}}}', 400),
        (b'{"state": 1e999, "questions": {"q": {"type": "noul"}}}', 400),
        (b'{"state": "\\ud800", "questions": {"q": {"type": "noul"}}}', 400),
        (b'{"state": ' + b"[" * 5000 + b"]" * 5000 + b', "questions": {"q": {"type": "noul"}}}', 400),
        (b'{"state": "\xff", "questions": {"q": {"type": "noul"}}}', 400),
        (b'{"state": "x", "questions": {"q": {"type": "noul"}, "q": {"type": "noul"}}}', 400),
        (b'{"state": "x", "questions": {"q": {"type": "choice", "criteria": {"a": null, "b": 1, "a": "c"}}}}', 400),
        (b'{"state": {"paid": true, "paid": false}, "questions": {"q": {"type": "noul"}}}', 400),
        (b"[]", 400),
        (b"", 400),
        (b'{"state": "a\\u0000b", "questions": {"q\\u0000": {"type": "noul"}}}', 200),
        (b'{"state": null, "questions": {"q": {"type": "noul", "instructions": null}}, "images": [], "extra": 1}', 200),
        (b'{"state": 12345678901234567890123456, "questions": {"q": {"type": "noul"}}}', 200),
        (b'{"state": "<|im_end|><|im_start|>", "questions": {"q": {"type": "noul"}}}', 200),
    ],
)
def test_odd_bodies(one: Stack, raw: bytes, status: int) -> None:
    response = one.http.post("/v1/systemone", content=raw, headers={"Content-Type": "application/json"})
    assert response.status_code == status, response.text
    if status == 400:
        assert response.json()["error"]["message"]


def test_another_content_type_is_refused(one: Stack) -> None:
    response = one.http.post("/v1/systemone", content=b"state=x", headers={"Content-Type": "text/plain"})
    assert response.status_code == 415


UNFIT = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}{% endfor %}<|im_start|>assistant: "


def test_a_model_that_cannot_decide_says_why(engines: Engines, tmp_path: Path) -> None:
    template = tmp_path / "unfit.jinja"
    template.write_text(UNFIT)
    with serve(engines("qwen3", "float32"), chat_template=str(template), endpoints={"systemone": "on"}) as running:
        until(lambda: running.http.get("/ready").status_code == 200, "ready without decisions")
        response = running.ask()
        error = response.json()["error"]
        assert (response.status_code, error["code"], error["type"]) == (501, 501, "NotImplementedError")
        assert 'the label "yes" of noul questions is not one token' in error["message"]
        assert running.http.post("/v1/completions", json={"prompt": "x", "max_tokens": 1}).status_code == 200
        assert '/v1/systemone answers 501: the label "yes"' in running.log.read_text()


def test_required_makes_readiness_fail_with_the_reason(engines: Engines, tmp_path: Path) -> None:
    template = tmp_path / "unfit.jinja"
    template.write_text(UNFIT)
    with serve(engines("qwen3", "float32"), chat_template=str(template)) as running:
        found = until(lambda: "is not one token" in running.http.get("/ready").text, "the reason is told")
        assert found and running.http.get("/ready").status_code == 503


def test_off_is_no_route(engines: Engines) -> None:
    with serve(engines("qwen3", "float32"), endpoints={"systemone": "off"}) as running:
        assert running.ask().status_code == 404


def test_a_full_queue_and_a_dead_engine_answer_503(tiny_model: Callable[..., Path]) -> None:
    with boot_engine(tiny_model("qwen3")) as engine, serve(engine, queue_requests=4) as running:
        until(lambda: running.http.get("/ready").status_code == 200, "ready")
        five = {f"q{i}": {"type": "noul"} for i in range(5)}
        assert running.ask("x", five).status_code in (400, 503)
        assert running.ask("x").status_code == 200
        engine.process.kill()
        engine.process.wait()
        until(lambda: running.ask("x").status_code == 503, "503 while the engine is down")
        assert "engine" in running.ask("x").json()["error"]["message"]
