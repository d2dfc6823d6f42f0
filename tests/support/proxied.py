"""A real API server process before fake vLLM processes, for tests of the proxy."""

import dataclasses
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal

import httpx
import msgspec
from waiting import until

from appliance.server.config import ServerConfig

FAKE = Path(__file__).with_name("fake_vllm.py")
SECONDS = 30.0


class FakeVllm:
    """One process of tests/support/fake_vllm.py."""

    def __init__(self, folder: Path, name: str) -> None:
        self.socket = folder / f"{name}.sock"
        self.address = f"unix:{self.socket}"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, mode: str = "works") -> "FakeVllm":
        self.socket.unlink(missing_ok=True)
        command = [
            sys.executable,
            str(FAKE),
            "serve",
            "/model",
            "--uds",
            str(self.socket),
            "--served-model-name",
            "tiny",
        ]
        self.process = subprocess.Popen(command, env={**os.environ, "FAKE_VLLM": mode}, stdout=subprocess.DEVNULL)
        return self

    def ask(self) -> dict[str, Any]:
        """What it has seen so far."""
        with httpx.Client(transport=httpx.HTTPTransport(uds=str(self.socket)), base_url="http://vllm") as client:
            told: dict[str, Any] = client.get("/fake").json()
            return told

    def tell(self, what: Literal["release", "forget"]) -> None:
        """Ends every `wait`, or forgets what was seen."""
        with httpx.Client(transport=httpx.HTTPTransport(uds=str(self.socket)), base_url="http://vllm") as client:
            client.post(f"/fake/{what}")

    def work(self, path: str = "/v1/chat/completions") -> list[dict[str, Any]]:
        """Requests to a route, but for those by which a state proves itself."""
        seen = [one for one in self.ask()["seen"] if one["path"] == path]
        return [one for one in seen if one["body"].get("messages") != [{"role": "user", "content": "Hi"}]]

    def stop(self) -> None:
        told = self.socket.with_name(f"{self.socket.name}.told")
        if told.exists():
            subprocess.run(["kill", "-9", str(json.loads(told.read_text())["core"])], check=False, capture_output=True)
        if self.process is not None:
            self.process.kill()
            self.process.wait()


class Proxy:
    def __init__(self, config: ServerConfig, stack: ExitStack) -> None:
        self.config = config
        listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        command = [sys.executable, "-P", "-m", "appliance.server.main", "--fd", str(listener.fileno())]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, pass_fds=[listener.fileno()]
        )
        listener.close()
        stack.callback(self.stop)
        self.http = stack.enter_context(httpx.Client(base_url=self.url, timeout=SECONDS))
        self._say(msgspec.json.encode(config).decode())
        self._reference = 0
        assert self._answer() == {"ready": True}

    def _say(self, line: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def _answer(self) -> dict[str, Any]:
        assert self.process.stdout
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def tell(self, kind: str, **fields: Any) -> dict[str, Any]:
        self.send(kind, **fields)
        return self._answer()

    def send(self, kind: str, **fields: Any) -> None:
        self._reference += 1
        if "config" in fields:
            fields["config"] = msgspec.to_builtins(dataclasses.replace(self.config, **fields["config"]))
        self._say(json.dumps({"type": kind, "reference": self._reference, **fields}))

    def answer(self) -> dict[str, Any]:
        return self._answer()

    def become(self, **fields: Any) -> None:
        """The state of another config, proven and current."""
        prepared = self.tell("prepare", config=fields)
        assert prepared["error"] is None, prepared
        self.tell("switch")

    def chat(self, content: str, **more: Any) -> httpx.Response:
        body = {"model": "tiny", "messages": [{"role": "user", "content": content}], **more}
        return self.http.post("/v1/chat/completions", json=body)

    def wait_ready(self) -> None:
        until(lambda: self.http.get("/ready").status_code == 200, "ready")

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe
            pipe.close()


Vllm = Callable[..., FakeVllm]
Make = Callable[..., Proxy]


def make_proxy(stack: ExitStack, *fakes: FakeVllm, ready: bool = True, **fields: Any) -> Proxy:
    settings: dict[str, Any] = {
        "engine_addresses": tuple(fake.address for fake in fakes),
        "model_path": "/model",
        "served_names": ("tiny",),
        "max_context": 64,
        "profile_name": "case",
        "release": "0.32",
        "endpoints": {"embeddings": "off", "transcriptions": "off"},
        "backend": "vllm",
    }
    made = Proxy(ServerConfig(**settings | fields), stack)
    if ready:
        made.wait_ready()
    return made


def events(response: httpx.Response) -> list[str]:
    return [line.removeprefix("data: ") for line in response.text.splitlines() if line.startswith("data: ")]
