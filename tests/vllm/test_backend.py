"""A whole appliance on real vLLM: booted, asked, reloaded, killed. One boot serves the tests in their order."""

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
import running
from lora_files import write_adapter

VLLM = Path(os.environ["APPLIANCE_VLLM"]).with_name("vllm")
SECONDS = 400.0


def profile(model: Path, adapters: tuple[str, ...] = ("polite",), **limits: Any) -> str:
    """Compilation is left out: it takes a minute, and nothing here depends on it."""
    return json.dumps(
        {
            "schema": 1,
            "name": "real",
            "release": "0.32",
            "model": {
                "source": str(model),
                "max_context": 256,
                "adapters": [{"name": name, "source": str(model.parent / name)} for name in adapters],
            },
            "kv_cache": {"size": "64MiB"},
            "engine": {"backend": "vllm", "vllm": {"command": [str(VLLM)], "options": {"enforce-eager": True}}},
            "reload": {"watch": False},
            "limits": limits,
        }
    )


@dataclass
class Up:
    appliance: running.Running
    file: Path
    model: Path
    revision: int = 1

    def chat(self, **more: Any) -> httpx.Response:
        body = {"model": "real", "messages": [{"role": "user", "content": "yes"}], "max_tokens": 4, **more}
        return httpx.post(f"{self.appliance.base_url}/v1/chat/completions", json=body, timeout=120)

    def generation(self) -> int:
        return int(httpx.get(f"{self.appliance.base_url}/ready").json()["generation"])

    def processes(self) -> list[psutil.Process]:
        return psutil.Process(self.appliance.process.pid).children(recursive=True)

    def reload(self, text: str, done: str) -> None:
        self.file.write_text(text)
        self.revision += 1
        self.appliance.process.send_signal(signal.SIGHUP)
        self.appliance.wait_for(f"revision {self.revision}: {done}", SECONDS)


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory, tiny_model: Callable[..., Path]) -> Iterator[Up]:
    model = tiny_model("qwen3", dtype="bfloat16", head_dim=32)
    for seed, name in enumerate(("polite", "terse")):
        write_adapter(model.parent / name, model, seed=seed, strength=3.0)
    folder = tmp_path_factory.mktemp("real")
    with running.boot(profile(model), folder, ready=False) as appliance:
        appliance.wait_ready(SECONDS)
        yield Up(appliance, folder / "profile.yaml", model)


def gone(processes: list[psutil.Process]) -> None:
    deadline = time.monotonic() + 60
    while left := [one for one in processes if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]:
        assert time.monotonic() < deadline, f"still there: {left}"
        time.sleep(0.1)


def test_chat_stream_and_decision(up: Up) -> None:
    assert up.chat().json()["usage"]["completion_tokens"] == 4
    streamed = [line for line in up.chat(stream=True).text.splitlines() if line]
    assert streamed[-1] == "data: [DONE]"
    question = {"type": "choice", "instructions": "Which?", "criteria": {"a": None, "b": None}}
    decided = httpx.post(
        f"{up.appliance.base_url}/v1/systemone", json={"state": "x", "questions": {"q": question}}, timeout=60
    ).json()
    assert sum(decided["answers"]["q"]["probabilities"].values()) == pytest.approx(1)


def test_other_doors_of_vllm_stay_shut(up: Up) -> None:
    for path in ("/invocations", "/v1/load_lora_adapter", "/v1/chat/completions/render", "/ping", "/load"):
        assert httpx.post(f"{up.appliance.base_url}{path}", json={}).status_code == 404


def test_messages_responses_models_and_numbers(up: Up) -> None:
    base = up.appliance.base_url
    body = {"model": "real", "max_tokens": 3, "messages": [{"role": "user", "content": "yes"}]}
    assert httpx.post(f"{base}/v1/messages", json=body, timeout=60).json()["usage"]["output_tokens"] == 3
    response = httpx.post(
        f"{base}/v1/responses", json={"model": "real", "input": "x", "max_output_tokens": 3}, timeout=60
    )
    assert response.json()["usage"]["output_tokens"] == 3
    assert httpx.get(f"{base}/v1/models").json()["data"][0]["max_model_len"] == 256
    numbers = httpx.get(f"{base}/metrics").text
    assert 'vllm:generation_tokens_total{engine="0",model_name="real"}' in numbers
    assert "appliance_engine_up" in numbers


def test_adapters_come_and_go_live(up: Up) -> None:
    own, polite = (up.chat(model=name, temperature=0).json()["choices"][0]["message"] for name in ("real", "polite"))
    assert own != polite
    up.reload(profile(up.model, ("terse",)), "applied")
    assert up.chat(model="terse").status_code == 200
    assert up.chat(model="polite").status_code == 404
    assert up.generation() == 1


def test_an_adapter_that_changed_in_its_folder_takes_over(up: Up) -> None:
    before = up.chat(model="terse", temperature=0).json()
    write_adapter(up.model.parent / "terse", up.model, seed=7, strength=3.0)
    up.reload(profile(up.model, ("terse",)), "applied")
    after = up.chat(model="terse", temperature=0).json()
    assert (before["model"], after["model"]) == ("terse", "terse")
    assert before["choices"][0]["message"] != after["choices"][0]["message"]
    assert up.generation() == 1


def test_a_live_change_keeps_the_process(up: Up) -> None:
    before = up.processes()
    up.reload(profile(up.model, max_tokens={"overflow": "reject"}), "applied")
    assert up.chat(max_tokens=255).status_code == 400
    assert up.generation() == 1
    assert {one.pid for one in before} <= {one.pid for one in up.processes()}


def test_an_edit_that_vllm_refuses_leaves_the_old_one(up: Up) -> None:
    text = profile(up.model).replace(
        '"enforce-eager": true', '"enforce-eager": true, "max-loras": 2, "tokenizer": "/none"'
    )
    up.reload(text, "it failed")
    assert up.chat().status_code == 200
    assert up.generation() == 1


def test_an_engine_change_makes_a_new_generation(up: Up) -> None:
    before = [one for one in up.processes() if "vllm" in " ".join(one.cmdline())]
    up.reload(profile(up.model).replace('"max_context": 256', '"max_context": 128'), "applied")
    gone([one for one in before if "appliance" not in " ".join(one.cmdline())])
    assert up.chat().status_code == 200
    assert httpx.get(f"{up.appliance.base_url}/v1/models").json()["data"][0]["max_model_len"] == 128


def test_an_engine_core_that_is_killed_comes_back(up: Up) -> None:
    core = next(one for one in up.processes() if "EngineCore" in one.name() or "EngineCore" in " ".join(one.cmdline()))
    core.kill()
    up.appliance.wait_for("starting it again", SECONDS)
    up.appliance.wait_ready(SECONDS)
    assert up.chat().status_code == 200


def test_sigterm_leaves_nothing(up: Up) -> None:
    processes = up.processes()
    assert len(processes) >= 5
    assert up.appliance.stop() == 0
    gone(processes)
