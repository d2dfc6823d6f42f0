"""Several server processes on one socket: connections spread, limits and numbers are those of all together."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from appliance.server import board

ROOT = Path(__file__).resolve().parents[3]
SERVERS = 3
CONTEXT = 256


@dataclass
class Group:
    url: str
    settings: dict[str, Any]
    folder: Path
    listener: socket.socket
    handle: int
    engine: Any
    processes: list[subprocess.Popen[str]] = field(default_factory=list)

    def start(self, number: int) -> subprocess.Popen[str]:
        metrics = self.folder / "metrics"
        metrics.mkdir(exist_ok=True)
        arguments = ["--fd", self.listener.fileno(), "--board", self.handle, "--servers", SERVERS, "--number", number]
        with (self.folder / f"log-{number}").open("a") as log:
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "appliance.server.main", *map(str, arguments), "--metrics", str(metrics)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                pass_fds=[self.listener.fileno(), self.handle],
                env={**os.environ, "PYTHONPATH": str(ROOT)},
            )
        assert process.stdin
        process.stdin.write(json.dumps(self.settings) + "\n")
        process.stdin.flush()
        return process

    def connections(self) -> list[int]:
        with memoryview(os.pread(self.handle, 1 << 12, 0)) as numbers:
            return list(numbers.cast("q")[:: board.ROW])


@pytest.fixture(scope="module")
def group(model: Path, launcher: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Group]:
    with ExitStack() as stack:
        lender = stack.enter_context(launcher(model, engine={"step": 0.01}))
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=256))
        handle = board.create(SERVERS)
        stack.callback(os.close, handle)
        settings = {**lender.settings, "queue_requests": 8}
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        folder = tmp_path_factory.mktemp("group")
        group = Group(url, settings, folder, listener, handle, lender.engine)
        group.processes = [group.start(number) for number in range(SERVERS)]
        for process in group.processes:
            assert process.stdout
            assert json.loads(process.stdout.readline()) == {"ready": True}
        lender.until(lambda: httpx.get(f"{url}/ready").status_code == 200, "ready")
        yield group
        for process in group.processes:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                assert pipe
                pipe.close()


def wait(fact: Any, what: str, seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not fact():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


def test_open_connections_spread_over_the_processes(group: Group) -> None:
    wait(lambda: sum(group.connections()) == 0, "no connection is left")
    with ExitStack() as stack:
        for _ in range(30):
            client = stack.enter_context(httpx.Client(base_url=group.url))
            assert client.get("/health").status_code == 200
        assert sum(group.connections()) == 30
        assert min(group.connections()) >= 8, group.connections()
    wait(lambda: sum(group.connections()) == 0, "no connection is left")


def test_the_queue_s_limit_is_one_for_all(group: Group) -> None:
    body = {"prompt": "ab", "max_tokens": 200, "stream": True}
    with ExitStack() as stack:
        streams = []
        for _ in range(8):
            client = stack.enter_context(httpx.Client(base_url=group.url, timeout=30))
            stream = stack.enter_context(client.stream("POST", "/v1/completions", json=body))
            assert stream.status_code == 200
            streams.append(stream.iter_lines())
            next(streams[-1])
        for _ in range(3):
            refused = httpx.post(f"{group.url}/v1/completions", json={"prompt": "ab"})
            assert refused.status_code == 503 and "8 of 8" in refused.text
    wait(lambda: group.engine.journal["running"] == 0, "the engine is idle")


def test_any_process_tells_the_sums_also_of_one_that_died(group: Group) -> None:
    def told() -> dict[str, float]:
        families = text_string_to_metric_families(httpx.get(f"{group.url}/metrics").text)
        return {sample.name: sample.value for family in families for sample in family.samples}

    before = told()
    for _ in range(12):
        assert httpx.post(f"{group.url}/v1/completions", json={"prompt": "ab", "max_tokens": 3}).status_code == 200
    name = "vllm:generation_tokens_total"
    assert {told()[name] for _ in range(6)} == {before[name] + 36}
    assert told()["vllm:admission_rejections_total"] >= 3
    group.processes[1].send_signal(signal.SIGKILL)
    group.processes[1].wait()
    for _ in range(6):
        assert told()[name] == before[name] + 36
    for pipe in (group.processes[1].stdin, group.processes[1].stdout):
        assert pipe
        pipe.close()
    group.processes[1] = group.start(1)
    assert group.processes[1].stdout
    assert json.loads(group.processes[1].stdout.readline()) == {"ready": True}
    assert httpx.get(f"{group.url}/health").status_code == 200


def test_a_drain_of_all_leaves_no_request_unanswered(group: Group) -> None:
    body = {"prompt": "ab", "max_tokens": 30, "stream": True}
    with ExitStack() as stack:
        opened = []
        for _ in range(6):
            client = stack.enter_context(httpx.Client(base_url=group.url, timeout=30))
            stream = stack.enter_context(client.stream("POST", "/v1/completions", json=body))
            opened.append(stream.iter_lines())
            next(opened[-1])
        for process in group.processes:
            process.send_signal(signal.SIGTERM)
        for lines in opened:
            assert [line for line in lines if line][-1] == "data: [DONE]"
    assert [process.wait(20) for process in group.processes] == [0] * SERVERS
