"""Boots the two servers of a comparison on loopback and ends them again."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

BOOT_LIMIT = 600.0
PROFILE = """\
schema: 1
name: bench
release: "0.32"
model: {{source: "{model}", served_names: [bench], max_context: 2048}}
kv_cache: {{size: {kv}}}
security: {{bind: "127.0.0.1:{port}"}}
observability: {{access_log: false}}
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def _running(command: list[str], url: str, ready: str, log: Path, env: dict[str, str]) -> Iterator[float]:
    """Yields the seconds from start to the first 200 of `ready`."""
    start = time.perf_counter()
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=os.environ | env)
        try:
            while True:
                if process.poll() is not None or time.perf_counter() - start > BOOT_LIMIT:
                    raise RuntimeError(f"{command[0]} did not come up:\n{log.read_text()[-2000:]}")
                try:
                    if httpx.get(url + ready, timeout=2).status_code == 200:
                        break
                except httpx.TransportError:
                    pass
                time.sleep(0.02)
            yield time.perf_counter() - start
        finally:
            process.terminate()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()


@contextmanager
def appliance(model: Path, workdir: Path, kv: str = "1GiB") -> Iterator[tuple[str, float]]:
    """(base URL, boot seconds) of `appliance up` on the model."""
    port = free_port()
    profile = workdir / f"bench-{port}.yaml"
    profile.write_text(PROFILE.format(model=model, port=port, kv=kv))
    command = [sys.executable, "-m", "appliance", "up", str(profile), "--state-dir", str(workdir / f"state-{port}")]
    url = f"http://127.0.0.1:{port}"
    with _running(command, url, "/ready", workdir / "appliance.log", {}) as seconds:
        yield url, seconds


@contextmanager
def vllm(executable: Path, model: Path, workdir: Path) -> Iterator[tuple[str, float]]:
    """(base URL, boot seconds) of vLLM's own server, compiled mode, as a user would start it."""
    port = free_port()
    command = [str(executable), "serve", str(model), "--port", str(port), "--host", "127.0.0.1"]
    command += ["--max-model-len", "2048", "--served-model-name", "bench"]
    env = {"VLLM_CPU_KVCACHE_SPACE": "1", "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1"}
    url = f"http://127.0.0.1:{port}"
    with _running(command, url, "/health", workdir / "vllm.log", env) as seconds:
        yield url, seconds
