"""`appliance up` with the real engine and server on a tiny model: what an operator and his clients live through."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import psutil
import pytest
from running import ROOT, Running, boot

PROFILE = """\
schema: 1
name: tiny
release: "0.32"
model:
  source: {model}
endpoints:
  systemone: required
kv_cache:
  size: 64MiB
reload:
  drain: 20s
"""
PROMPT = {"model": "tiny", "prompt": "yes the order", "max_tokens": 8, "temperature": 0}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("up")


@pytest.fixture(scope="module")
def profile(tiny_model: Callable[..., Path]) -> str:
    return PROFILE.format(model=tiny_model("qwen3"))


@pytest.fixture(scope="module")
def up(profile: str, folder: Path) -> Iterator[Running]:
    """One appliance for the tests that leave it running."""
    with boot(profile, folder) as running:
        running.wait_for("ready in")
        yield running


def engine_pid(running: Running) -> int:
    children = psutil.Process(running.process.pid).children()
    return next(child.pid for child in children if "appliance.engine.main" in child.cmdline())


def complete(running: Running) -> str:
    answer = httpx.post(f"{running.base_url}/v1/completions", json=PROMPT, timeout=60)
    assert answer.status_code == 200, answer.text
    text: str = answer.json()["choices"][0]["text"]
    return text


def cli(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "appliance", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_boot_prints_stages_address_and_a_call_to_try(up: Running) -> None:
    for stage in ("profile", "model", "plan", "engine: load weights", "server: accepting"):
        up.wait_for(rf"^  {stage} +\d+\.\d\d s")
    up.wait_for(rf"ready in .* s: tiny on {re.escape(up.base_url)}")
    up.wait_for("curl http://127.0.0.1")


def test_killed_engine_means_503_and_then_service_again(up: Running) -> None:
    before = complete(up)
    os.kill(engine_pid(up), signal.SIGKILL)
    up.wait_for("the engine process was killed by SIGKILL")
    seen = httpx.post(f"{up.base_url}/v1/completions", json=PROMPT, timeout=60)
    assert seen.status_code == 503
    assert httpx.get(f"{up.base_url}/ready").status_code == 503
    up.wait_ready()
    assert complete(up) == before


def test_hangup_applies_an_edit(up: Running, profile: str, folder: Path) -> None:
    file = folder / "profile.yaml"
    up.process.send_signal(signal.SIGHUP)
    up.wait_for("the effective plan is unchanged")
    file.write_text(profile + "limits:\n  queue: {requests: 9}\n")
    up.process.send_signal(signal.SIGHUP)
    up.wait_for(r"limits\.queue\.requests: 256 -> 9")
    up.wait_for(r"revision \d+: applied")
    file.write_text(profile + "limts: {}\n")
    up.process.send_signal(signal.SIGHUP)
    up.wait_for("the text is not valid")
    up.wait_for(r"profile\.yaml:\d+:\d+ AP01\d\d error")
    file.write_text(profile)
    assert complete(up)


def test_port_in_use_is_one_line(up: Running, profile: str, tmp_path: Path) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(profile)
    bind = up.base_url.removeprefix("http://")
    ran = cli("up", str(file), "--bind", bind, "--state-dir", str(tmp_path / "state"))
    assert ran.returncode == 2
    assert ran.stderr.count("AP0601") == 1
    assert bind.split(":")[1] in ran.stderr
    assert f"(process {up.process.pid})" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_sigterm_finishes_a_running_stream(profile: str, tmp_path: Path) -> None:
    with boot(profile, tmp_path) as running:
        body = {**PROMPT, "max_tokens": 60, "ignore_eos": True, "stream": True}
        lines: list[str] = []

        def stream() -> None:
            with httpx.stream("POST", f"{running.base_url}/v1/completions", json=body, timeout=60) as answer:
                lines.extend(line for line in answer.iter_lines() if line)

        caller = threading.Thread(target=stream)
        caller.start()
        while not lines:
            time.sleep(0.005)
        running.process.send_signal(signal.SIGTERM)
        caller.join()
        assert running.process.wait(40) == 0
    assert lines[-1] == "data: [DONE]"
    chunks = [json.loads(line.removeprefix("data: ")) for line in lines[:-1]]
    reasons = [choice["finish_reason"] for chunk in chunks for choice in chunk["choices"]]
    assert [reason for reason in reasons if reason] == ["length"]


def test_invalid_profile_does_not_boot(tmp_path: Path) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(PROFILE.format(model=tmp_path / "gone") + "kv_cach: {}\n")
    ran = cli("up", str(file), "--bind", "127.0.0.1:0", "--state-dir", str(tmp_path / "state"))
    assert ran.returncode == 1
    assert "AP01" in ran.stderr
    assert not (tmp_path / "state").exists()


def test_broken_checkpoint_does_not_boot(profile: str, tmp_path: Path, tiny_model: Callable[..., Path]) -> None:
    broken = tmp_path / "model"
    broken.mkdir()
    for source in tiny_model("qwen3").iterdir():
        content = source.read_bytes()
        (broken / source.name).write_bytes(content[:5000] if source.suffix == ".safetensors" else content)
    file = tmp_path / "p.yaml"
    file.write_text(PROFILE.format(model=broken))
    ran = cli("up", str(file), "--bind", "127.0.0.1:0", "--state-dir", str(tmp_path / "state"))
    assert ran.returncode in (1, 2)
    assert "model.safetensors" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_pull_and_its_refusals(tmp_path: Path, profile: str) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(profile)
    ran = cli("pull", str(file))
    assert ran.returncode == 0
    assert "qwen3" in ran.stdout
    file.write_text(PROFILE.format(model=tmp_path / "gone"))
    ran = cli("pull", str(file))
    assert ran.returncode == 2
    assert re.search(r"p\.yaml:5:11 AP0502", ran.stderr)
    assert "Traceback" not in ran.stderr
