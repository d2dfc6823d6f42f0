"""/v1/systemone through real server and engine processes, on tiny random models; answers against Transformers."""

import json
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import numpy as np
import pytest
from decision_stack import QUESTIONS, STATE, Stack
from waiting import until


def expected_logprobs(model: Path, prompt: str) -> tuple[dict[str, float], int, int]:
    """Transformers in float32: every token's log-probability after the prompt, likeliest id, prompt length."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model)
    ids = tokenizer.encode(prompt, add_special_tokens=False)
    network = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32)
    with torch.no_grad():
        logits = network(torch.tensor([ids])).logits[0, -1].double().numpy()
    logprobs = logits - logits.max() - np.log(np.exp(logits - logits.max()).sum())
    return (
        dict(zip(tokenizer.convert_ids_to_tokens(range(len(logits))), logprobs, strict=True)),
        int(logits.argmax()),
        len(ids),
    )


ASKED = {
    "letter": (
        "Question: Which?\nA: river - wet\nB: lake\nC: hill\nAnswer with the letter of one option only.",
        "ABC",
    ),
    "late": ("Question: Late?\nyes\nno: in time\nAnswer with yes or no only.", ("yes", "no")),
    "rank": ("Question: How good?\n0: bad\n1: fair\n2: good\nAnswer with the number of one level only.", "012"),
}


def test_probabilities_equal_transformers(stack: Stack) -> None:
    body = stack.ask(instructions="Be fair.").json()
    state = '{"customer": "Ängström 漢字", "order": 7, "paid": true, "notes": [null, 1.5]}'
    lengths = 0
    for name, (text, labels) in ASKED.items():
        turns = f"system\nBe fair.<|im_end|>\n<|im_start|>user\n{state}\n\n{text}<|im_end|>\n"
        prompt = f"<|im_start|>{turns}<|im_start|>assistant\n"
        logprobs, top, length = expected_logprobs(stack.engine.model, prompt)
        lengths += length
        shares = np.exp([logprobs[label] for label in labels])
        answer, diagnostics = body["answers"][name], body["diagnostics"][name]
        probabilities = list(answer["probabilities"].values())
        assert probabilities == pytest.approx(list(shares / shares.sum()), abs=2e-5)
        assert diagnostics["label_mass"] == pytest.approx(shares.sum(), abs=2e-5)
        assert diagnostics["argmax_is_label"] == (list(logprobs)[top] in labels)
        assert answer["confidence"] == pytest.approx(shares.max(), abs=2e-5)
    assert body["usage"] == {"input_tokens": lengths, "output_tokens": 3}
    assert body["answers"]["letter"]["choice"] in {"river", "lake", "hill"}
    assert body["answers"]["rank"]["legend"] == {"0": "bad", "1": "fair", "2": "good"}


def test_the_answer_has_exactly_these_fields(one: Stack) -> None:
    response = one.ask(model="alias")
    body = response.json()
    assert list(body) == ["id", "object", "created", "model", "answers", "usage", "diagnostics"]
    assert body["id"].startswith("decision-") and response.headers["x-request-id"] == body["id"]
    assert body["object"] == "structured_decision" and body["model"] == "alias"
    assert abs(body["created"] - time.time()) < 60
    assert list(body["answers"]) == list(body["diagnostics"]) == list(QUESTIONS)
    assert one.ask().json()["model"] == "tiny"


def test_request_ids(one: Stack) -> None:
    body = {"state": "x", "questions": {"q": {"type": "noul"}}, "request_id": "mine"}
    assert one.http.post("/v1/systemone", json=body).json()["id"] == "decision-mine"
    given = one.http.post("/v1/systemone", json=body, headers={"X-Request-Id": "theirs"})
    assert given.json()["id"] == "decision-theirs"


def test_the_state_is_computed_once(one: Stack) -> None:
    """Also when nothing is cached yet: reads that wait together share what they begin with."""
    state = "river mountain window forest silver engine kernel " * 12
    questions = {f"q{i}": {"type": "noul", "instructions": f"{i}?"} for i in range(12)}
    before = one.settled("vllm:prefix_cache_hits_total")
    tokens = one.ask(state, questions, cache_salt="fresh").json()["usage"]["input_tokens"]
    each = tokens // 12
    shared = one.http.post("/tokenize", json={"prompt": state}).json()["count"] // 16 * 16
    assert shared > 64
    found = one.settled("vllm:prefix_cache_hits_total") - before
    assert 11 * shared <= found <= 11 * each


def test_a_salt_changes_nothing_but_the_cache(one: Stack) -> None:
    plain = one.ask().json()["answers"]
    salted = one.ask(cache_salt="s" * 128).json()["answers"]
    assert salted["late"]["noul"] == pytest.approx(plain["late"]["noul"], abs=2e-5)
    assert salted["letter"]["choice"] == plain["letter"]["choice"]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_company_in_the_batch_changes_nothing(stacks: Callable[[str, str], Stack], dtype: str) -> None:
    one = stacks("qwen3", dtype)
    alone = one.ask().json()["answers"]
    text = {"max_tokens": 40, "ignore_eos": True}
    with ThreadPoolExecutor(6) as pool:
        texts = [pool.submit(one.http.post, "/v1/completions", json={"prompt": f"{i}", **text}) for i in range(3)]
        decisions = [pool.submit(one.ask, cache_salt=str(i)) for i in range(3)]
        assert all(text.result().status_code == 200 for text in texts)
        for decision in decisions:
            for name, answer in decision.result().json()["answers"].items():
                expected = list(alone[name]["probabilities"].values())
                assert list(answer["probabilities"].values()) == pytest.approx(expected, abs=1e-6)


def test_the_official_client(one: Stack) -> None:
    from typesafe_sdk import Choice, Noul, Score, TypeSafeClient

    with TypeSafeClient(base_url=one.url, api_key="unused") as client:
        result = client.system_one(
            state=STATE,
            questions={
                "letter": Choice(instructions="Which?", criteria={"river": "wet", "lake": None, "hill": ""}),
                "late": Noul(instructions="Late?", criteria={"false": "in time"}),
                "rank": Score(instructions="How good?", criteria=["bad", "fair", "good"]),
            },
            model="tiny",
        )
    raw = one.ask().json()
    assert result.choices["letter"].choice == raw["answers"]["letter"]["choice"]
    assert result.nouls["late"].noul == pytest.approx(raw["answers"]["late"]["noul"], abs=2e-5)
    assert result.scores["rank"].legend == {0: "bad", 1: "fair", 2: "good"}
    assert sum(result.scores["rank"].probabilities.values()) == pytest.approx(1)
    assert result.usage.input_tokens == raw["usage"]["input_tokens"] and result.model == "tiny"


def test_the_official_client_compresses_long_states(one: Stack) -> None:
    from typesafe_sdk import Noul, TypeSafeClient

    state = "river mountain " * 150
    with TypeSafeClient(base_url=one.url, api_key="unused", compression="zstd") as client:
        packed = client.system_one(state, {"q": Noul(instructions="?")}, model="tiny")
    with TypeSafeClient(base_url=one.url, api_key="unused", compression=False) as client:
        plain = client.system_one(state, {"q": Noul(instructions="?")}, model="tiny")
    assert packed.usage.input_tokens == plain.usage.input_tokens > 150
    assert packed.nouls["q"].noul == pytest.approx(plain.nouls["q"].noul, abs=1e-6)


def test_a_client_that_leaves_frees_its_reads(one: Stack) -> None:
    questions = {f"q{i}": {"type": "noul", "instructions": f"{i}" + " river" * 400} for i in range(64)}
    before = one.metric("vllm:request_success_total", 'finished_reason="abort"')
    body = json.dumps({"state": "x", "questions": questions}).encode()
    url = httpx.URL(one.url)
    with socket.create_connection((url.host, url.port or 0)) as client:
        head = (
            f"POST /v1/systemone HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
        )
        client.sendall(head.encode() + b"\r\n\r\n" + body)
        until(lambda: one.metric("appliance_queue_requests") == 64, "the reads are under way")
    until(lambda: one.metric("vllm:request_success_total", 'finished_reason="abort"') > before, "reads were aborted")
    until(lambda: one.metric("vllm:num_requests_running") + one.metric("vllm:num_requests_waiting") == 0, "idle")
    assert one.ask().status_code == 200
