"""A new engine that dies soon after it took over: real engines and servers, clients that stream or wait."""

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import psutil
import pytest
from faked import Faked, faked
from judged_streams import Ask, answers, streaming

ASKS = tuple(Ask(f"{start} the order", tokens) for start, tokens in (("yes", 300), ("no", 120), ("river", 220)))


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory, tiny_model: Callable[..., Path]) -> Iterator[Faked]:
    settings = {"model": str(tiny_model("qwen3")), "pool": "64MiB", "names": "bench"}
    environment = {"FAKE_CHILDREN": "no", "FAKE_SETTLE": "60"}
    with faked(tmp_path_factory.mktemp("settling"), environment=environment, **settings) as made:
        yield made


def engines(up: Faked) -> set[int]:
    found = set()
    for child in psutil.Process(up.up.process.pid).children():
        with contextlib.suppress(psutil.Error):
            if "appliance.engine.main" in child.cmdline():
                found.add(child.pid)
    return found


def switched(up: Faked, **settings: str) -> int:
    """An edit that is settling; the process of its new engine."""
    before, heard = engines(up), len(up.up.lines)
    up.write(**settings)
    up.hang_up()
    up.up.wait_until(lambda: any(line.startswith("  switch ") for line in up.up.lines[heard:]))
    (new,) = engines(up) - before
    return new


def test_the_same_model(up: Faked, tiny_model: Callable[..., Path]) -> None:
    """What streams goes on on the engine that serves again; what comes meanwhile waits for it."""
    settings = {"model": str(tiny_model("qwen3")), "names": "bench", "pool": "48MiB", "strategy": "drain"}
    whole = answers(up.up.base_url, ASKS)
    with streaming(lambda: up.up.base_url, ASKS, 6, whole) as clients:
        seen = len(up.endings())
        new = switched(up, **settings)
        count = len(clients.heard)
        up.up.wait_until(lambda: len(clients.heard) > count + 6)
        os.kill(new, signal.SIGKILL)
        assert "failed and was undone" in up.ending(seen)
        count = len(clients.heard)
        up.up.wait_until(lambda: len(clients.heard) > count + 6)
    assert not clients.faults


def test_another_model(up: Faked, tiny_model: Callable[..., Path]) -> None:
    """Of what the dead engine was answering only streams are lost, and told why; the old one answers the rest."""
    settings = {"model": str(tiny_model("qwen3", seed=1)), "names": "bench", "pool": "48MiB", "strategy": "surge"}
    statuses: list[int] = []
    over = threading.Event()
    body = {"prompt": "yes", "max_tokens": 40, "temperature": 0, "ignore_eos": True}

    def ask() -> None:
        with httpx.Client(base_url=up.up.base_url, timeout=120) as client:
            while not over.is_set():
                statuses.append(client.post("/v1/completions", json=body).status_code)

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    try:
        seen = len(up.endings())
        new = switched(up, **settings)
        with httpx.stream(
            "POST", f"{up.up.base_url}/v1/completions", json=body | {"max_tokens": 900, "stream": True}, timeout=60
        ) as stream:
            lines = stream.iter_lines()
            next(lines)
            os.kill(new, signal.SIGKILL)
            rest = "\n".join(lines)
        assert '"error"' in rest and "the engine stopped while it answered" in rest
        assert "failed and was undone" in up.ending(seen)
        count = len(statuses)
        up.up.wait_until(lambda: len(statuses) > count + 6)
    finally:
        over.set()
        for thread in threads:
            thread.join()
    assert set(statuses) == {200}
