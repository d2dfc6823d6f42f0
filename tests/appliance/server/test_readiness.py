"""A probe that fails in a way nobody foresaw is a reason, is logged, and is tried again."""

import asyncio
import logging
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from appliance.server import endpoints, readiness, watching
from appliance.server.config import ServerConfig

CONFIG = ServerConfig("ipc://x", "m", ("m",), 16, "test", "0.32", {"chat": "required"})


class Line:
    """One line of the endpoint table; `outcomes` are what its probe does, try by try."""

    switch, module, path = "chat", "chat", "/v1/chat/completions"

    def __init__(self, *outcomes: Exception | float | None) -> None:
        self.outcomes = list(outcomes)

    def required(self, config: ServerConfig) -> bool:
        return True

    def probe(self) -> Callable[[Any], Any]:
        async def probe(context: Any) -> None:
            outcome = self.outcomes.pop(0)
            if isinstance(outcome, Exception):
                raise outcome
            await asyncio.sleep(outcome or 0)

        return probe


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """`watch(line)` -> every reason that was given on the way to ready."""
    monkeypatch.setattr(readiness, "RETRY_SECONDS", 0.01)
    monkeypatch.setattr(readiness, "PROBE_SECONDS", 0.05)

    async def run(line: Line) -> list[str]:
        monkeypatch.setattr(endpoints, "ENDPOINTS", (line,))
        ready = SimpleNamespace(instance="1", architecture="A", kv_tokens=1, kv_dtype="float32")
        engines = SimpleNamespace(ready=ready, reason="", instances=("1",), replicas=(object(),))
        context: Any = SimpleNamespace(engines=engines, config=CONFIG)
        watched = readiness.Readiness()
        task = asyncio.create_task(watched.watch(context))
        reasons = [watched.reason]
        while not watched.ready:
            await asyncio.sleep(0)
            assert not task.done(), "the watch ended"
            if watched.reason and watched.reason != reasons[-1]:
                reasons.append(watched.reason)
        task.cancel()
        return reasons

    return lambda line: asyncio.run(asyncio.wait_for(run(line), 20))


def test_any_exception_is_a_reason_and_is_tried_again(
    watch: Callable[..., list[str]], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "appliance.server"):
        reasons = watch(Line(KeyError("labels"), ZeroDivisionError("x"), 5.0, None))
    assert reasons == [
        "engine: the engine is booting",
        "chat: its probe failed with KeyError: 'labels'",
        "chat: its probe failed with ZeroDivisionError: x",
        "chat: its probe was not answered for 0.05 s",
    ]
    assert [record.exc_info[0] for record in caplog.records if record.exc_info] == [KeyError, ZeroDivisionError]
    assert caplog.messages[-1] == "ready: engine, chat"


def test_a_watch_that_fails_is_logged_and_started_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(watching, "wait_exponential", lambda max: lambda state: 0.0)
    left = [RuntimeError("one"), RuntimeError("two")]

    async def broken() -> None:
        if left:
            raise left.pop(0)

    asyncio.run(watching.keep(broken))
    assert [str(record.exc_info[1]) for record in caplog.records if record.exc_info] == ["one", "two"]
