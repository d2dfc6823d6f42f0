"""A real `appliance up` in a child process, for tests that speak to it over HTTP."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Running:
    process: subprocess.Popen[str]
    base_url: str = ""
    lines: list[str] = field(default_factory=list)
    """What it wrote on standard output and error so far."""

    @property
    def output(self) -> str:
        return "\n".join(self.lines)

    def wait_for(self, pattern: str, timeout: float = 60.0) -> re.Match[str]:
        """First line that matches; AssertionError with the whole output when the process ends or time runs out."""
        deadline = time.monotonic() + timeout
        while True:
            ended = self.process.poll() is not None
            for line in list(self.lines):
                if found := re.search(pattern, line):
                    return found
            assert not ended, f"ended with {self.process.returncode} before {pattern!r}:\n{self.output}"
            assert time.monotonic() < deadline, f"no {pattern!r} in {timeout} s:\n{self.output}"
            time.sleep(0.02)

    def wait_until(self, condition: Callable[[], bool], timeout: float = 60.0) -> None:
        """AssertionError with the whole output when the process ends or time runs out."""
        deadline = time.monotonic() + timeout
        while not condition():
            assert self.process.poll() is None, f"ended with {self.process.returncode}:\n{self.output}"
            assert time.monotonic() < deadline, f"not in {timeout} s:\n{self.output}"
            time.sleep(0.02)

    def wait_ready(self, timeout: float = 60.0) -> None:
        """Until GET /ready answers 200."""
        deadline = time.monotonic() + timeout
        while True:
            assert self.process.poll() is None, f"ended with {self.process.returncode}:\n{self.output}"
            assert time.monotonic() < deadline, f"not ready in {timeout} s:\n{self.output}"
            try:
                if httpx.get(f"{self.base_url}/ready", timeout=5).status_code == 200:
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.05)

    def stop(self, timeout: float = 40.0) -> int:
        """SIGTERM, then the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout)


@contextmanager
def boot(
    profile: str,
    folder: Path,
    *,
    ready: bool = True,
    arguments: tuple[str, ...] = (),
    environment: Mapping[str, str] | None = None,
) -> Iterator[Running]:
    """Writes `profile` into `folder`, boots it on a free port of 127.0.0.1, ends it and its children afterwards."""
    path = folder / "profile.yaml"
    path.write_text(profile)
    command = [sys.executable, "-m", "appliance", "up", str(path), "--state-dir", str(folder / "state")]
    if "--bind" not in arguments:
        command += ["--bind", "127.0.0.1:0"]
    with start([*command, *arguments], environment) as running:
        running.base_url = running.wait_for(r"http://127\.0\.0\.1:\d+").group()
        if ready:
            running.wait_ready()
        yield running


@contextmanager
def start(command: list[str], environment: Mapping[str, str] | None = None) -> Iterator[Running]:
    """Any command in the checkout, its output collected; SIGTERM at the end if it still runs."""
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1", "NO_COLOR": "1", "COLUMNS": "80", **(environment or {})},
    )
    running = Running(process)
    assert process.stdout is not None
    reader = threading.Thread(target=lambda: running.lines.extend(map(str.rstrip, process.stdout or ())), daemon=True)
    reader.start()
    try:
        yield running
    finally:
        if process.poll() is None:
            process.terminate()
        try:
            process.wait(40)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        reader.join(10)
        process.stdout.close()
