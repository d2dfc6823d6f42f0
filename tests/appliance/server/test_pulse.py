"""Alive or not: a busy engine is alive, one whose steps stand still while requests wait is not."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from appliance.engine.protocol import Stats
from appliance.server import pulse
from appliance.server.admission import Admission
from appliance.server.board import Board
from appliance.server.gate import Gate

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


@dataclass(eq=False)
class ReplicaDouble:
    client: Any
    open: bool = True
    unfinished: tuple[str, ...] = ()


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> tuple[pulse.Pulse, list[ReplicaDouble], list[float], Gate]:
    clock = [0.0]
    monkeypatch.setattr(pulse.time, "monotonic", lambda: clock[0])
    replicas = [ReplicaDouble(SimpleNamespace(stats=STATS)) for _ in range(2)]
    engines: Any = SimpleNamespace(ready=object(), reason="gone", replicas=replicas, open=replicas)
    board = Board.alone()
    gate = Gate(board, Admission(10, None, board))
    heart = pulse.Pulse(engines, gate)
    heart.engines = engines  # type: ignore[attr-defined]
    return heart, replicas, clock, gate


def test_steps_that_stand_still_under_load_are_a_hang_whatever_the_other_replica_does(watched: Any) -> None:
    heart, (busy, idle), clock, _ = watched
    busy.unfinished = ("a",)
    heart.look()
    clock[0] = pulse.STALL_SECONDS + 1
    idle.client.stats = msgspec.structs.replace(STATS, steps=7)
    heart.look()
    assert heart.verdict() == (False, "requests wait and the engine has ended no step for 601 s")
    busy.client.stats = msgspec.structs.replace(STATS, steps=2)
    heart.look()
    assert heart.verdict()[0]


def test_an_engine_that_is_being_replaced_is_no_dead_one(watched: Any) -> None:
    heart, _, _, gate = watched
    heart.look()
    gate.hold(1, 1.0)
    heart.engines.ready = None
    assert heart.verdict() == (True, "the engine is being replaced")
    gate.release()
    assert heart.verdict() == (False, "the engine died and is not back: gone")


def test_an_idle_engine_is_alive_for_ever(watched: Any) -> None:
    heart, _, clock, _ = watched
    for clock[0] in (0.0, 500.0, 10_000.0):
        heart.look()
        assert heart.verdict() == (True, "the engine runs")
