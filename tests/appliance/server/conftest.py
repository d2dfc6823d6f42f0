"""A real server process before a fake engine process, and a byte-level tokenizer small enough to reason about."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import httpx
import openai
import pytest
import tokenizers
from tokenizers import decoders, models, pre_tokenizers
from waiting import until

ROOT = Path(__file__).resolve().parents[3]
FAKE_ENGINE = Path(__file__).with_name("fake_engine.py")
CONTEXT = 256
EOS = 256
KILL = 258
FAIL = 259
DRAIN = 257
TEMPLATE = (
    "{% for message in messages %}{{ message.role[0] }}:{{ message.content }}"
    "{% if not (loop.last and continue_final_message) %}{{ '\\n' }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}a:{% endif %}"
)


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tokenizer of 256 bytes, token id = byte, and four special tokens behind."""
    folder = tmp_path_factory.mktemp("bytes")
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    alphabet = {byte: chr(byte) for byte in printable} | {byte: chr(256 + i) for i, byte in enumerate(others)}
    tokenizer = tokenizers.Tokenizer(models.BPE({alphabet[byte]: byte for byte in range(256)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<end>", "<start>", "<kill>", "<fail>"])
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {"eos_token": "<end>", "bos_token": "<start>", "chat_template": TEMPLATE}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    (folder / "config.json").write_text(json.dumps({"model_type": "llama", "vocab_size": 260, "eos_token_id": EOS}))
    return folder


class Engine:
    def __init__(self, folder: Path, name: str, options: dict[str, Any]) -> None:
        self.address = f"ipc://{folder / name}"
        self._journal = folder / f"{name}.journal"
        self._command = [sys.executable, str(FAKE_ENGINE), "--address", self.address, "--journal", str(self._journal)]
        tokens = {"eos": EOS, "kill_token": KILL, "fail_token": FAIL, "drain_token": DRAIN}
        options = {"vocab": 260, "context": CONTEXT, **tokens, **options}
        for name, value in options.items():
            self._command += [f"--{name.replace('_', '-')}", str(value)]
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.process = subprocess.Popen(self._command, env={**os.environ, "PYTHONPATH": str(ROOT)})

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    @property
    def journal(self) -> dict[str, Any]:
        return json.loads(self._journal.read_text())


@dataclass
class Server:
    url: str
    port: int
    process: subprocess.Popen[str]
    engine: Engine
    http: httpx.Client
    log: Path
    folder: Path
    settings: dict[str, Any]
    stack: ExitStack
    answers: "Answers"
    until = staticmethod(until)

    @property
    def openai(self) -> openai.OpenAI:
        return openai.OpenAI(base_url=f"{self.url}/v1", api_key="unused", max_retries=0, http_client=self.http)

    def complete(self, prompt: Any, **more: Any) -> httpx.Response:
        return self.http.post("/v1/completions", json={"prompt": prompt, **more})

    def chat(self, content: Any, **more: Any) -> httpx.Response:
        return self.http.post("/v1/chat/completions", json={"messages": [{"role": "user", "content": content}], **more})

    def another_engine(self, name: str, **options: Any) -> Engine:
        """Started."""
        engine = Engine(self.folder, name, options)
        self.stack.callback(engine.stop)
        engine.start()
        return engine

    def send(self, command: str, **fields: Any) -> int:
        """A command as the supervisor sends it; its reference."""
        return self.answers.send(command, **fields)

    def tell(self, command: str, **fields: Any) -> dict[str, Any]:
        """The answer, without what says nothing."""
        return self.answers.of(self.send(command, **fields))

    def prepare(self, **changes: Any) -> dict[str, Any]:
        """A state that differs from the first one by that."""
        limits = {name: changes.pop(name) for name in ("seconds", "probe") if name in changes}
        return self.tell("prepare", config={**self.settings, **changes}, **limits)

    def switch(self, **changes: Any) -> dict[str, Any]:
        """Prepared and switched to; the proof."""
        prepared = self.prepare(**changes)
        assert "error" not in prepared, prepared
        assert self.tell("switch") == {}
        return prepared["proof"]

    def wait_ready(self) -> None:
        until(lambda: self.http.get("/ready").status_code == 200, "ready")

    def idle(self) -> bool:
        return self.engine.journal["running"] == 0

    def end(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(20)


class Answers:
    """Reads what the process says, so that answers can be awaited in any order."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._sent = 0
        self._got: dict[int, dict[str, Any]] = {}
        self.others: list[Any] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def send(self, command: str, **fields: Any) -> int:
        assert self._process.stdin
        self._sent += 1
        self._process.stdin.write(json.dumps({"type": command, "reference": self._sent, **fields}) + "\n")
        self._process.stdin.flush()
        return self._sent

    def here(self, reference: int) -> bool:
        return reference in self._got

    def of(self, reference: int) -> dict[str, Any]:
        until(lambda: self.here(reference), f"the answer to command {reference}", 300)
        answer = self._got.pop(reference)
        return {name: value for name, value in answer.items() if value and name != "reference"}

    def _read(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            message = json.loads(line)
            if "reference" in message:
                self._got[message["reference"]] = message
            else:
                self.others.append(message)


@contextmanager
def launch(
    model: Path,
    *,
    engine: dict[str, Any] | None = None,
    boot_engine: bool = True,
    environment: Any = None,
    greeting: tuple[Any, ...] = (),
    **config: Any,
) -> Iterator[Server]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        double = Engine(folder, "engine", engine or {})
        stack.callback(double.stop)
        if boot_engine:
            double.start()
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=256))
        settings = {
            "engine_addresses": [double.address],
            "model_path": str(model),
            "served_names": ["bytes", "alias"],
            "max_context": CONTEXT,
            "profile_name": "test",
            "release": "0.32",
            "endpoints": {"chat": "required", "completions": "required", "metrics": "on", "systemone": "off"},
            **config,
        }
        log = folder / "log"
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "appliance.server.main", "--fd", str(listener.fileno())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stack.enter_context(log.open("w")),
            text=True,
            pass_fds=[listener.fileno()],
            env={**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})},
        )
        assert process.stdin and process.stdout
        # killed before its pipes are closed: a thread reads from one of them
        stack.enter_context(process.stdout)
        stack.callback(_close, process.stdin)
        stack.callback(process.wait)
        stack.callback(process.kill)
        # what follows may arrive with the configuration in one piece
        process.stdin.write(json.dumps(settings) + "\n" + "".join(json.dumps(line) + "\n" for line in greeting))
        process.stdin.flush()
        said = process.stdout.readline()
        assert json.loads(said or "{}") == {"ready": True}, said + log.read_text()
        port = listener.getsockname()[1]
        url = f"http://127.0.0.1:{port}"
        http = stack.enter_context(httpx.Client(base_url=url, timeout=20))
        answers = Answers(process)
        server = Server(url, port, process, double, http, log, folder, settings, stack, answers)
        if boot_engine:
            server.wait_ready()
        yield server


def _close(pipe: IO[str]) -> None:
    with contextlib.suppress(BrokenPipeError):
        pipe.close()


@pytest.fixture(scope="session")
def shared(model: Path) -> Iterator[Server]:
    with launch(model) as server:
        yield server


@pytest.fixture
def server(shared: Server) -> Server:
    """One server for all tests that leave it as they found it."""
    until(shared.idle, "the engine is idle")
    return shared


@pytest.fixture
def boot(model: Path) -> Iterator[Callable[..., Server]]:
    """`boot(queue_requests=2, engine={"step": 0.1})`: a server of the test's own."""
    with ExitStack() as stack:
        yield lambda **options: stack.enter_context(launch(model, **options))


@pytest.fixture(scope="session")
def launcher() -> Callable[..., Any]:
    return launch


@pytest.fixture
def start_refused(model: Path, tmp_path: Path) -> Callable[..., str]:
    """`start_refused(**config)` -> what the process says instead of serving; it ends with code 2."""

    def start(environment: Any = None, **config: Any) -> str:
        with (
            pytest.raises(AssertionError) as refused,
            launch(config.pop("model_path", model), boot_engine=False, environment=environment, **config),
        ):
            pass
        said = str(refused.value).splitlines()[0]
        assert "Traceback" not in str(refused.value)
        return json.loads(said)["error"]

    return start
