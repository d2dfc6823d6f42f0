"""An engine that does not come up, and the operator's next save. Over fake children."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from faked import Faked, faked

from appliance.supervise.history_read import read_history

HANGS, SLOW, OTHER = "256", "24", "32"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Faked]:
    with faked(tmp_path_factory.mktemp("overtaking")) as made:
        yield made


@pytest.fixture
def calm(shared: Faked) -> Faked:
    shared.edit()
    return shared


def engines(made: Faked) -> set[int]:
    found = set()
    for child in psutil.Process(made.up.process.pid).children():
        with contextlib.suppress(psutil.Error):
            if "fake_engine" in child.cmdline():
                found.add(child.pid)
    return found


def booting(made: Faked, **settings: str) -> None:
    """An edit whose engine has been started."""
    before = engines(made)
    made.write(**settings)
    made.hang_up()
    made.up.wait_until(lambda: bool(engines(made) - before))


def outcomes(made: Faked, count: int) -> list[str | None]:
    with read_history(made.state_folder) as history:
        return [revision.outcome for revision in reversed(history.list(count))]


@pytest.mark.parametrize("strategy", ["surge", "drain"])
@pytest.mark.parametrize("correction", [{}, {"block": OTHER}], ids=["back", "on"])
def test_a_correction_overtakes_an_engine_that_hangs(calm: Faked, strategy: str, correction: dict[str, str]) -> None:
    seen = len(calm.endings())
    booting(calm, strategy=strategy, block=HANGS)
    calm.write(strategy=strategy, **correction)
    calm.hang_up()
    assert "left for a newer state" in calm.ending(seen)
    assert "applied" in calm.ending(seen + 1)
    assert outcomes(calm, 2) == ["superseded", "applied"]
    assert calm.get("/work").status_code == 200
    calm.up.wait_until(lambda: len(engines(calm)) == 1)
    assert calm.state["successful"] and calm.state["sync"] == "Synced"


def test_what_is_not_valid_overtakes_nothing(calm: Faked) -> None:
    seen = len(calm.endings())
    booting(calm, strategy="surge", block=SLOW)
    calm.write(strategy="surge", block=SLOW, more="limts: {}")
    calm.hang_up()
    assert "applied" in calm.ending(seen)
    assert "not valid" in calm.ending(seen + 1)


def test_a_live_edit_waits_for_the_engine_that_boots(calm: Faked) -> None:
    seen = len(calm.endings())
    booting(calm, strategy="surge", block=SLOW)
    calm.write(strategy="surge", block=SLOW, more="limits: {queue: {requests: 9}}")
    calm.hang_up()
    assert "applied" in calm.ending(seen)
    assert "applied" in calm.ending(seen + 1)
    assert outcomes(calm, 2) == ["applied", "applied"]
    assert calm.state["queue"] == 9


def test_a_storm_does_not_keep_an_engine_from_being_tried(tmp_path: Path) -> None:
    """Each save wants another engine; none would ever boot if every one gave way to the next."""
    with faked(tmp_path) as made:
        for number in range(60):
            made.write(strategy="surge", block=SLOW, pool=f"{2 + number}MiB")
            made.hang_up()
            made.up.wait_until(lambda: len(engines(made)) > 1)
            if any("applied" in ending for ending in made.endings()):
                break
        made.up.wait_until(lambda: any("applied" in ending for ending in made.endings()))
        assert made.up.stop() == 0
