"""An engine whose process lives and says nothing. Over fake children."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from checkpoint_shapes import make_checkpoint
from faked import SUPPORT, faked
from plan_inputs import machine, make_profile
from running import ROOT

from appliance.plan import Plan, make_plan
from appliance.supervise import generation
from appliance.supervise.crew import Crew, Fell
from appliance.supervise.generation import Engines, Generation
from appliance.supervise.process import Role
from appliance.supervise.restart import DEFAULT
from appliance.supervise.stall import LEAST_SECONDS, patience
from appliance.supervise.state import State


class Lines:
    """What the processes say."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def stage(self, role: Role, name: str, seconds: float) -> None: ...

    def line(self, role: Role, text: str) -> None:
        self.heard.append(text)

    def died(self, role: Role, how: str, delay: float) -> None: ...

    def changed(self, role: Role, state: State) -> None: ...


def plan(model: str = "qwen3-0.6b", machine_name: str = "cpu-16c-64g", **tree: Any) -> Plan:
    return make_plan(make_profile(tree), machine(machine_name), make_checkpoint(model))


@asynccontextmanager
async def one_engine(
    folder: Path, made: Plan, stall: float | None = None
) -> AsyncIterator[tuple[Engines, Generation, Lines]]:
    crew, lines = Crew(), Lines()
    engines = Engines(crew, lines, folder, "fake_engine", stall_seconds=stall)
    try:
        one = engines.make(made, policy=DEFAULT)
        await engines.ready(one)
        yield engines, one, lines
        await engines.stop(one)
    finally:
        await crew.end()


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(SUPPORT)]))


def test_it_is_replaced_and_an_edit_meanwhile_reaches_the_next_one(tmp_path: Path) -> None:
    with faked(tmp_path, environment={"FAKE_STALL": "2"}) as made:
        first = made.pids["engine"]
        os.kill(first, signal.SIGSTOP)
        assert "applied" in made.edit(more="engine: {batching: {max_sequences: 7}}")
        made.up.wait_for(r"the engine process gave no sign of life for \d+ s and was killed; starting it again")
        made.up.wait_until(lambda: made.get("/work").status_code == 200 and made.pids["engine"] != first)
        assert made.up.stop() == 0


def test_one_that_is_idle_for_long_lives(tmp_path: Path, children: None) -> None:
    async def idle() -> None:
        async with one_engine(tmp_path, plan(), stall=0.5) as (_, one, _):
            await asyncio.sleep(2.5)
            assert one.keepers[0].starts == 1

    asyncio.run(idle())


def test_what_was_taken_back_does_not_hold_later(
    tmp_path: Path, children: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It gives no answer in time, which undoes the edit, and takes the settings all the same."""
    monkeypatch.setattr(generation, "RECONFIGURE_SECONDS", 0.3)

    async def late() -> None:
        before = plan(engine={"batching": {"max_sequences": 5}})
        after = plan(engine={"batching": {"max_sequences": 17}})
        async with one_engine(tmp_path, before) as (engines, one, lines):
            with pytest.raises(Fell, match="gives no answer"):
                await engines.reconfigure(one, after, {"max_sequences": 17})
            async with asyncio.timeout(30):
                while "takes 5" not in lines.heard:
                    await asyncio.sleep(0.02)
            assert [line for line in lines.heard if line.startswith("takes")] == ["takes 17", "takes 5"]
            assert one.plan is before and one.keepers[0].starts == 1

    asyncio.run(late())


def test_a_full_step_of_a_large_model_on_a_processor_is_no_hang() -> None:
    assert patience(plan()) == LEAST_SECONDS
    large = plan("llama-3-8b", engine={"batching": {"max_tokens": 2048}})
    assert patience(large) > 2048 / 2, "two tokens of a prompt in a second are still a living engine"
