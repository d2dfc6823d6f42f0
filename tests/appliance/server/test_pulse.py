"""Alive or not: a busy engine is alive, one whose steps stand still while requests wait is not."""

from dataclasses import dataclass
from typing import Any

import msgspec
import pytest

from appliance.engine.protocol import Stats
from appliance.server import pulse
from appliance.server.admission import Admission

STATS = Stats(
    running=1,
    waiting=5,
    kv_usage=1.0,
    prefix_queries=0,
    prefix_hits=0,
    preemptions=0,
    prompt_tokens=0,
    generation_tokens=0,
    steps=1,
    step_sizes=[],
    step_tokens=1,
    free_blocks=0,
    cached_blocks=0,
    free_slots=0,
)


@dataclass
class EngineDouble:
    ready: Any
    stats: Stats | None
    reason: str = "gone"


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> tuple[pulse.Pulse, EngineDouble, list[float], Admission]:
    clock = [0.0]
    monkeypatch.setattr(pulse.time, "monotonic", lambda: clock[0])
    engine, admission = EngineDouble(object(), STATS), Admission(10, None)
    return pulse.Pulse(engine, admission), engine, clock, admission  # type: ignore[arg-type]


def test_steps_that_stand_still_under_load_are_a_hang(watched: Any) -> None:
    heart, engine, clock, admission = watched
    with admission.enter(1, 1):
        heart.look()
        clock[0] = pulse.STALL_SECONDS + 1
        heart.look()
        assert heart.verdict() == (False, "requests wait and the engine has ended no step for 121 s")
        engine.stats = msgspec.structs.replace(STATS, steps=2)
        heart.look()
        assert heart.verdict()[0]


def test_an_idle_engine_is_alive_for_ever(watched: Any) -> None:
    heart, _, clock, _ = watched
    for clock[0] in (0.0, 500.0, 10_000.0):
        heart.look()
        assert heart.verdict() == (True, "the engine runs")
