"""The supervisor over fake children: deaths on every side, drains, crash loops. Real processes, real signals."""

import json
import os
import re
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import psutil
import pytest
from bare_model import bare_model
from running import Running, start
from waiting import until

SUPPORT = Path(__file__).resolve().parents[2] / "support"
ROOT = SUPPORT.parents[1]

Up = Callable[..., Running]
PROFILE = """\
schema: 1
name: fake
release: "0.32"
model: {{source: {model}}}
reload: {{drain: 5s}}
observability: {{log_format: {format}}}
"""


@pytest.fixture
def up(tmp_path: Path) -> Iterator[Up]:
    with ExitStack() as stack:

        def boot(ready: bool = True, folder: Path | None = None, **environment: str) -> Running:
            profile = tmp_path / "fake.yaml"
            format = environment.get("FAKE_REPORT", "text")
            profile.write_text(PROFILE.format(model=bare_model(tmp_path / "model"), format=format))
            state = str(folder or tmp_path / "state")
            command = [sys.executable, str(SUPPORT / "fake_up.py"), state, str(profile), "127.0.0.1:0"]
            paths = os.pathsep.join([str(ROOT), str(SUPPORT)])
            running = stack.enter_context(start(command, {"PYTHONPATH": paths, **environment}))
            if ready:
                running.base_url = running.wait_for(r"http://127\.0\.0\.1:\d+").group()
                running.wait_ready()
            return running

        yield boot


def pids(running: Running) -> dict[str, int]:
    answer: dict[str, int] = httpx.get(f"{running.base_url}/pids").json()
    return answer


def status(folder: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((folder / "status.json").read_text())
    return found


def test_boot_says_what_happens_and_status_follows(up: Up, tmp_path: Path) -> None:
    running = up()
    running.wait_for("ready in .* s: fake on http://")
    running.wait_for("engine: load weights .* s")
    running.wait_for(r"engine \| an engine's log line")
    running.wait_for("curl http://")
    state = status(tmp_path / "state")
    assert state["state"] == "ready"
    assert state["pid"] == running.process.pid
    assert state["url"] == running.base_url
    assert running.stop() == 0
    assert status(tmp_path / "state")["state"] == "stopped"


def test_killed_engine_is_replaced(up: Up) -> None:
    running = up()
    before = pids(running)
    os.kill(before["engine"], signal.SIGKILL)
    running.wait_for("the engine process was killed by SIGKILL; starting it again")
    running.wait_ready()
    after = pids(running)
    assert after["server"] == before["server"]
    assert after["engine"] != before["engine"]


def test_killed_server_is_replaced_and_callers_wait_instead_of_failing(up: Up) -> None:
    running = up()
    before = pids(running)
    os.kill(before["server"], signal.SIGKILL)
    after = pids(running)
    assert after["engine"] == before["engine"]
    assert after["server"] != before["server"]


def said(running: Running, pattern: str) -> list[str]:
    return re.findall(pattern, running.output)


def test_what_is_told_of_a_restart_is_of_the_restart(up: Up) -> None:
    running = up()
    running.wait_for("ready in ")
    killed = time.monotonic()
    os.kill(pids(running)["server"], signal.SIGKILL)
    accepting = r"server: accepting +([0-9.]+) s"
    until(lambda: len(said(running, accepting)) == 2 and len(said(running, "ready in ")) == 2)
    assert float(said(running, accepting)[1]) <= time.monotonic() - killed + 0.01
    assert running.stop() == 0
    assert running.output.count("curl http://") == 1 and "\n\n\n" not in running.output


def test_children_die_with_a_killed_supervisor(up: Up) -> None:
    running = up()
    children = [psutil.Process(pid) for pid in pids(running).values()]
    running.process.kill()
    running.process.wait()
    gone, alive = psutil.wait_procs(children, timeout=10)
    assert not alive
    assert len(gone) == 2


def test_sigterm_lets_running_requests_finish(up: Up) -> None:
    running = up()
    children = {name: psutil.Process(pid) for name, pid in pids(running).items()}
    host, port = running.base_url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=60) as call:
        call.sendall(b"GET /slow?1 HTTP/1.0\r\n\r\n")
        open_ones = children["server"].net_connections
        until(lambda: any(one.status == psutil.CONN_ESTABLISHED for one in open_ones()), "the server has it")
        assert running.stop() == 0
        assert call.makefile("rb").readline().split()[1] == b"200"
    assert not psutil.wait_procs(children.values(), timeout=10)[1]
    with socket.socket() as client:
        assert client.connect_ex((host, int(port))) != 0


def test_second_signal_ends_it_at_once(up: Up) -> None:
    running = up()
    children = [psutil.Process(pid) for pid in pids(running).values()]
    failures: list[Exception] = []

    def call() -> None:
        try:
            httpx.get(f"{running.base_url}/slow?30", timeout=60)
        except httpx.TransportError as error:
            failures.append(error)

    caller = threading.Thread(target=call)
    caller.start()
    time.sleep(0.3)
    running.process.send_signal(signal.SIGINT)
    running.wait_for("draining: .*a second signal")
    running.process.send_signal(signal.SIGINT)
    assert running.process.wait(10) == 1
    caller.join()
    assert len(failures) == 1
    assert not psutil.wait_procs(children, timeout=5)[1]


def test_hangup_without_an_edit_changes_nothing(up: Up) -> None:
    running = up()
    before = pids(running)
    running.process.send_signal(signal.SIGHUP)
    running.wait_for("revision 2: the effective plan is unchanged")
    assert pids(running) == before


def test_sigterm_while_booting_leaves_nothing(up: Up) -> None:
    running = up(ready=False)
    running.wait_for("http://")
    until(lambda: len(psutil.Process(running.process.pid).children()) == 2)
    children = psutil.Process(running.process.pid).children()
    assert running.stop() == 0
    assert not psutil.wait_procs(children, timeout=5)[1]


def test_engine_that_refuses_is_not_tried_again(up: Up) -> None:
    running = up(ready=False, FAKE_ENGINE="refuse")
    assert running.process.wait(20) == 2
    until(lambda: "AP0604" in running.output)
    assert "the engine cannot start: no such device" in running.output
    assert running.output.count("load weights") == 1
    assert "Traceback" not in running.output


@pytest.mark.parametrize("mode", ["crash", "crash-later"])
def test_crash_loop_is_given_up_loudly(up: Up, mode: str) -> None:
    running = up(ready=False, FAKE_ENGINE=mode)
    assert running.process.wait(20) == 2
    until(lambda: "AP0605" in running.output)
    assert "it died 3 times within 60 s" in running.output
    assert running.output.count("starting it again") == 2
    assert "Traceback" not in running.output


def test_missing_endpoint_is_said_once(up: Up) -> None:
    running = up(ready=False, FAKE_SERVER="endpoint-missing")
    running.wait_for("AP0606 .*not ready: systemone: no labels")
    time.sleep(0.3)
    assert running.output.count("AP0606") == 1
    assert "ready in" not in running.output
    assert running.stop() == 0


def test_json_logs_are_one_object_per_line(up: Up) -> None:
    running = up(FAKE_REPORT="json")
    running.wait_for('"message": "ready"')
    assert running.stop() == 0
    records = [json.loads(line) for line in running.lines]
    assert {"supervisor", "engine"} == {record["process"] for record in records}
    assert any(record.get("url") == running.base_url and record["message"] == "ready" for record in records)
    assert any(record["message"] == "an engine's log line" for record in records)


def test_second_appliance_in_one_state_folder_is_refused(up: Up) -> None:
    first = up()
    second = up(ready=False)
    assert second.process.wait(20) == 2
    until(lambda: "AP0602" in second.output)
    assert f"process {first.process.pid}" in second.output
    assert pids(first)


def test_long_state_folder_gets_short_sockets(up: Up, tmp_path: Path) -> None:
    folder = tmp_path / ("long-name-" * 12)
    running = up(folder=folder)
    assert pids(running)
    assert not list(folder.glob("run/*"))
    assert running.stop() == 0


def test_state_folder_that_cannot_be_made(up: Up, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    running = up(ready=False, folder=tmp_path / "file" / "state")
    assert running.process.wait(20) == 2
    until(lambda: "AP0603" in running.output)
