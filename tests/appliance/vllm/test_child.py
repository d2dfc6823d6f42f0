"""The child that starts vLLM, as its own process over a fake vLLM: what it says, and that nothing outlives it."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pytest

from appliance.vllm.config import VllmConfig

FAKE = Path(__file__).resolve().parents[2] / "support" / "fake_vllm.py"
SECONDS = 30.0


class Started:
    def __init__(self, config: VllmConfig) -> None:
        command = [sys.executable, "-P", "-m", "appliance.vllm.main"]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, start_new_session=True
        )
        assert self.process.stdin
        self.process.stdin.write(msgspec.json.encode(config).decode() + "\n")
        self.process.stdin.flush()
        self.told_at = Path(f"{config.socket}.told")
        self.events: list[dict[str, Any]] = []

    def until(self, key: str) -> dict[str, Any]:
        """The first event with this key; those before it are kept."""
        assert self.process.stdout
        for line in self.process.stdout:
            self.events.append(json.loads(line))
            if key in self.events[-1]:
                return self.events[-1]
        raise AssertionError(f"no {key!r} in {self.events}; {self.process.stderr and self.process.stderr.read()}")

    def told(self) -> dict[str, Any]:
        """What the fake vLLM wrote about itself."""
        deadline = time.monotonic() + SECONDS
        while not self.told_at.exists():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        told: dict[str, Any] = json.loads(self.told_at.read_text())
        return told

    def pids(self) -> list[int]:
        told = self.told()
        return [told["pid"], told["core"], *(child.pid for child in psutil.Process(self.process.pid).children())]


def all_gone(pids: list[int]) -> None:
    deadline = time.monotonic() + SECONDS
    while left := [pid for pid in pids if psutil.pid_exists(pid) and _runs(pid)]:
        assert time.monotonic() < deadline, f"still there: {left}"
        time.sleep(0.02)


def _runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Started]]:
    made: list[Started] = []

    def begin(mode: str = "works", **fields: Any) -> Started:
        settings: dict[str, Any] = {
            "command": (sys.executable, str(FAKE)),
            "arguments": ("/model", "--served-model-name", "tiny"),
            "served_names": ("tiny",),
            "proof": "completion",
            "boot_seconds": 1.0,
            "boot_limit": SECONDS,
            "environment": {"FAKE_VLLM": mode},
            "address": f"unix:{tmp_path / 'v.sock'}",
        }
        made.append(Started(VllmConfig(**settings | fields)))
        return made[-1]

    yield begin
    for started in made:
        started.process.kill()
        started.process.communicate()


def test_ready_after_a_real_answer_and_gone_after_sigterm(start: Callable[..., Started]) -> None:
    started = start()
    started.until("ready")
    assert [event.get("stage") for event in started.events] == ["vLLM answers", "first completion", None]
    pids = started.pids()
    started.process.terminate()
    assert started.process.wait(SECONDS) == 0
    all_gone(pids)
    assert started.process.stderr and "booting" in started.process.stderr.read()
    assert not started.told_at.with_suffix("").exists(), "its socket is cleaned up"


def test_an_error_while_booting_is_told_with_its_cause(start: Callable[..., Started]) -> None:
    started = start("error")
    error = started.until("error")["error"]
    assert "ValueError: no room for the KV cache" in error
    assert "Engine core" not in error
    assert started.process.wait(SECONDS) == 2
    all_gone([started.told()["core"]])


def test_a_command_that_does_not_exist(start: Callable[..., Started]) -> None:
    started = start(command=("no-such-vllm",))
    assert "no-such-vllm: No such file or directory" in started.until("error")["error"]
    assert started.process.wait(SECONDS) == 2


def test_hanging_before_ready_ends_with_the_limit(start: Callable[..., Started]) -> None:
    started = start("hang", boot_limit=1.0)
    pids = started.pids()
    error = started.until("error")["error"]
    assert error.startswith("vLLM is not ready after 1 s, about 1 s were expected; it last said: booting")
    assert started.process.wait(SECONDS) == 2
    all_gone(pids)


def test_answers_without_tokens_are_no_proof(start: Callable[..., Started]) -> None:
    started = start("refuses")
    assert "its first completion with 400" in started.until("error")["error"]
    assert started.process.wait(SECONDS) == 2


def test_death_while_serving_is_a_death(start: Callable[..., Started]) -> None:
    started = start()
    started.until("ready")
    pids = started.pids()
    os.kill(started.told()["pid"], signal.SIGKILL)
    assert started.process.wait(SECONDS) not in (0, 2)
    all_gone(pids)


@pytest.mark.parametrize("victim", ["child", "guard"])
def test_kill_leaves_nothing_behind(victim: str, start: Callable[..., Started]) -> None:
    started = start()
    started.until("ready")
    pids = started.pids()
    guard = psutil.Process(started.process.pid).children()[0]
    os.kill(started.process.pid if victim == "child" else guard.pid, signal.SIGKILL)
    all_gone(pids)


def test_a_vllm_that_ignores_sigterm_is_killed(start: Callable[..., Started]) -> None:
    started = start("deaf")
    started.until("ready")
    pids = started.pids()
    started.process.terminate()
    assert started.process.wait(SECONDS) == 0
    all_gone(pids)


def test_keys_stay_here_and_the_environment_is_added(
    start: Callable[..., Started], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VLLM_API_KEY", "secret")
    started = start(withheld=("VLLM_API_KEY",), environment={"VLLM_LOGGING_LEVEL": "INFO", "FAKE_VLLM": "works"})
    started.until("ready")
    told = started.told()
    assert told["environment"] == {"VLLM_LOGGING_LEVEL": "INFO", "FAKE_VLLM": "works"}
    assert told["argv"][:2] == ["serve", "/model"]
