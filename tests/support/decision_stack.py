"""Real server processes before real engine processes, to be asked for decisions."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from running import ROOT

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


Engines = Callable[[str, str], Engine]
"""One by architecture and data type."""


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
