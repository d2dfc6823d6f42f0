"""/v1/systemone through real server and engine processes, on tiny random models; answers against Transformers."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[3]
CONTEXT = 512
QUESTIONS = {
    "letter": {
        "type": "choice",
        "instructions": "Which?",
        "criteria": {"river": "wet", "lake": None, "hill": ""},
    },
    "late": {"type": "noul", "instructions": "Late?", "criteria": {"false": "in time"}},
    "rank": {"type": "score", "instructions": "How good?", "criteria": ["bad", "fair", "good"]},
}
STATE = {"customer": "Ängström 漢字", "order": 7, "paid": True, "notes": [None, 1.5]}


@dataclass
class Stack:
    url: str
    http: httpx.Client
    engine: "Engine"
    log: Path
    """The server's standard error."""

    def ask(self, state: Any = STATE, questions: Any = QUESTIONS, **more: Any) -> httpx.Response:
        return self.http.post("/v1/systemone", json={"state": state, "questions": questions, **more})

    def metric(self, name: str, labels: str = "") -> float:
        lines = self.http.get("/metrics").text.splitlines()
        found = [line for line in lines if line.startswith((f"{name} ", f"{name}{{")) and labels in line]
        return sum(float(line.rpartition(" ")[2]) for line in found)

    def settled(self, name: str) -> float:
        """The engine tells its counters every quarter of a second: the value after two equal looks."""
        value = self.metric(name)
        while True:
            time.sleep(0.6)
            if value == (value := self.metric(name)):
                return value


@dataclass
class Engine:
    """One engine process over `model`; any number of servers may stand before it."""

    address: str
    model: Path
    process: subprocess.Popen[str]


@contextmanager
def start(module: str, settings: dict[str, Any], log: Path, *arguments: str, **options: Any) -> Iterator[Any]:
    """A child as the supervisor starts it, ready."""
    with log.open("w") as errors:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
            **options,
        )
    assert process.stdin and process.stdout
    with process.stdout:
        try:
            process.stdin.write(json.dumps(settings) + "\n")
            process.stdin.close()
            for line in process.stdout:
                assert "error" not in json.loads(line), line
                if json.loads(line).get("ready"):
                    yield process
                    return
            raise AssertionError(log.read_text())
        finally:
            process.kill()
            process.wait()


@contextmanager
def boot_engine(model: Path, dtype: str = "float32") -> Iterator[Engine]:
    with tempfile.TemporaryDirectory() as folder:
        settings = {
            "address": f"ipc://{folder}/engine",
            "model_path": str(model),
            "dtype": dtype,
            "kv_dtype": dtype,
            "block_tokens": 16,
            "num_blocks": 400,
            "max_context": CONTEXT,
            "max_sequences": 16,
            "max_batch_tokens": 512,
        }
        with start("appliance.engine.main", settings, Path(folder, "log")) as process:
            yield Engine(settings["address"], model, process)


@contextmanager
def serve(engine: Engine, **config: Any) -> Iterator[Stack]:
    """A server process of its own before `engine`."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=64))
        settings = {
            "engine_addresses": [engine.address],
            "model_path": str(engine.model),
            "served_names": ["tiny", "alias"],
            "max_context": CONTEXT,
            "profile_name": "test",
            "release": "0.32",
            "endpoints": {"systemone": "required"},
            **config,
        }
        number, log = listener.fileno(), folder / "log"
        stack.enter_context(start("appliance.server.main", settings, log, "--fd", str(number), pass_fds=[number]))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        http = stack.enter_context(httpx.Client(base_url=url, timeout=60))
        yield Stack(url, http, engine, log)


def until(fact: Callable[[], Any], what: str, seconds: float = 30) -> Any:
    deadline = time.monotonic() + seconds
    while not (value := fact()):
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.02)
    return value


Engines = Callable[[str, str], Engine]


@pytest.fixture(scope="module")
def engines(tiny_model: Callable[..., Path]) -> Iterator[Engines]:
    """`engines("qwen3", "float32")`: one process for all tests that leave it as they found it."""
    with ExitStack() as stack:
        yield cache(lambda name, dtype: stack.enter_context(boot_engine(tiny_model(name, dtype=dtype), dtype)))


@pytest.fixture(scope="module")
def stacks(engines: Engines) -> Iterator[Callable[[str, str], Stack]]:
    """The same with a server before it, ready."""
    with ExitStack() as stack:

        @cache
        def ready(name: str, dtype: str) -> Stack:
            running = stack.enter_context(serve(engines(name, dtype)))
            until(lambda: running.http.get("/ready").status_code == 200, "ready")
            return running

        yield ready


@pytest.fixture(params=["qwen3", "llama"])
def stack(request: pytest.FixtureRequest, stacks: Callable[[str, str], Stack]) -> Stack:
    """Qwen3 is what vLLM decides with; any other architecture must do it too."""
    return stacks(request.param, "float32")


@pytest.fixture
def one(stacks: Callable[[str, str], Stack]) -> Stack:
    return stacks("qwen3", "float32")


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
