"""A whole appliance on fake vLLM processes: boots, faults, reloads, and nothing left behind."""

import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
import running
from proxied import FAKE, SECONDS
from waiting import until

Up = Callable[..., running.Running]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("up")


@pytest.fixture(scope="module")
def appliance(folder: Path, model: Path) -> Iterator[running.Running]:
    """One for all that it survives, with a short settle time; at the end it drains."""
    file = folder / "profile.yaml"
    file.write_text(profile(model))
    command = [sys.executable, str(FAKE.with_name("fake_up.py")), str(folder / "state"), str(file), "127.0.0.1:0"]
    with running.start(command, {"FAKE_CHILDREN": "no"}) as started:
        started.base_url = started.wait_for(r"http://127\.0\.0\.1:\d+").group()
        started.wait_ready()
        yield started
        assert started.stop() == 0


def profile(model: Path, mode: str = "works", **more: Any) -> str:
    tree = {
        "schema": 1,
        "name": "tiny",
        "release": "0.32",
        "model": {"source": str(model)},
        "kv_cache": {"size": "64MiB"},
        "engine": {"backend": "vllm", "vllm": {"command": ["env", f"FAKE_VLLM={mode}", sys.executable, str(FAKE)]}},
        "reload": {"watch": False},
    }
    return json.dumps(tree | more)


def reload(appliance: running.Running, folder: Path, text: str, done: str) -> None:
    (folder / "profile.yaml").write_text(text)
    appliance.process.send_signal(signal.SIGHUP)
    appliance.wait_for(done, SECONDS)


def chat(appliance: running.Running) -> int:
    body = {"model": "tiny", "messages": [{"role": "user", "content": "hello there"}]}
    return httpx.post(f"{appliance.base_url}/v1/chat/completions", json=body, timeout=SECONDS).status_code


def gone(pids: list[int]) -> bool:
    return not any(psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE for pid in pids)


def test_boot_answers_and_kill_of_the_supervisor_leaves_nothing(appliance_up: Up, model: Path) -> None:
    appliance = appliance_up(profile(model, parallelism={"data": 2}))
    assert chat(appliance) == 200
    pids = [child.pid for child in psutil.Process(appliance.process.pid).children(recursive=True)]
    assert len(pids) >= 9
    os.kill(appliance.process.pid, signal.SIGKILL)
    until(lambda: gone(pids), "nothing is left")


def test_vllm_that_prints_an_error_and_exits_ends_the_first_boot(appliance_up: Up, model: Path) -> None:
    appliance = appliance_up(profile(model, "error"), ready=False)
    assert appliance.process.wait(SECONDS) == 2
    appliance.wait_for("AP0604 error", SECONDS)
    assert "ValueError: no room for the KV cache" in appliance.output
    assert "Traceback" not in appliance.output


def test_reloads_by_what_changed(appliance: running.Running, model: Path, folder: Path) -> None:
    reload(appliance, folder, profile(model, limits={"queue": {"requests": 7}}), "revision 2: applied")
    reload(appliance, folder, profile(model, "error"), "revision 3: it failed")
    assert "no room for the KV cache" in appliance.output
    assert chat(appliance) == 200
    statuses: list[int] = []
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            statuses.append(chat(appliance))

    worker = threading.Thread(target=ask)
    worker.start()
    reload(appliance, folder, profile(model, kv_cache={"size": "32MiB"}), "revision 4: applied")
    stop.set()
    worker.join()
    assert set(statuses) == {200}
    assert httpx.get(f"{appliance.base_url}/ready").json()["generation"] > 1


def test_a_vllm_that_dies_while_it_settles_costs_no_request(model: Path, tmp_path: Path) -> None:
    file = tmp_path / "profile.yaml"
    file.write_text(profile(model))
    command = [sys.executable, str(FAKE.with_name("fake_up.py")), str(tmp_path / "state"), str(file), "127.0.0.1:0"]
    statuses: list[int] = []
    stop = threading.Event()
    with running.start(command, {"FAKE_CHILDREN": "no", "FAKE_SETTLE": "60"}) as appliance:
        appliance.base_url = appliance.wait_for(r"http://127\.0\.0\.1:\d+").group()
        appliance.wait_ready()

        def ask() -> None:
            while not stop.is_set():
                statuses.append(chat(appliance))

        workers = [threading.Thread(target=ask) for _ in range(3)]
        for worker in workers:
            worker.start()
        try:
            reload(appliance, tmp_path, profile(model, "dies:40"), "revision 2: it failed")
        finally:
            stop.set()
            for worker in workers:
                worker.join()
        assert "served, then failed" in appliance.output
        assert set(statuses) == {200}
        assert appliance.stop() == 0


def test_a_vllm_that_dies_is_started_again(appliance: running.Running) -> None:
    below = psutil.Process(appliance.process.pid).children(recursive=True)
    next(one for one in below if "serve" in (words := one.cmdline()) and str(FAKE) in words).kill()
    appliance.wait_for("starting it again", SECONDS)
    until(lambda: chat(appliance) == 200, "it serves again")
