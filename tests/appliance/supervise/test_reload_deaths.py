"""kill -9 of every process in every phase of a reload, and what `up` finds afterwards. Over fake children."""

import contextlib
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from faked import Faked, again, faked

from appliance.supervise.history_read import read_history
from appliance.supervise.history_records import Revision

HANGS, SLOW, OTHER, REFUSES, DIES = "256", "24", "32", "8", "128"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Faked]:
    with faked(tmp_path_factory.mktemp("deaths")) as made:
        yield made


@pytest.fixture
def calm(shared: Faked) -> Faked:
    shared.edit()
    return shared


def children(made: Faked, module: str) -> set[int]:
    found = set()
    for child in psutil.Process(made.up.process.pid).children():
        with contextlib.suppress(psutil.Error):
            if module in " ".join(child.cmdline()):
                found.add(child.pid)
    return found


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


def revisions(made: Faked) -> list[Revision]:
    """Oldest first."""
    with read_history(made.state_folder) as history:
        return list(reversed(history.list()))


@pytest.mark.parametrize("strategy", ["surge", "drain"])
def test_the_new_engine_is_killed_while_it_boots(calm: Faked, strategy: str) -> None:
    before = calm.state["generation"], children(calm, "fake_engine")
    seen = len(calm.endings())
    calm.write(strategy=strategy, block=HANGS)
    calm.hang_up()
    calm.up.wait_until(lambda: bool(children(calm, "fake_engine") - before[1]))
    if strategy == "drain":
        calm.up.wait_until(lambda: not before[1] & children(calm, "fake_engine"))
    (new,) = children(calm, "fake_engine") - before[1]
    kill(new)
    assert "failed and was undone" in calm.ending(seen)
    assert calm.state["generation"] == before[0]
    assert calm.get("/work").status_code == 200


def test_the_old_engine_is_killed_while_the_new_one_boots(calm: Faked) -> None:
    (old,) = children(calm, "fake_engine")
    seen = len(calm.endings())
    calm.write(strategy="surge", block=SLOW)
    calm.hang_up()
    calm.up.wait_until(lambda: len(children(calm, "fake_engine")) == 2)
    kill(old)
    calm.up.wait_for("the engine process was killed by SIGKILL; starting it again")
    assert "applied" in calm.ending(seen)
    assert calm.get("/work").status_code == 200
    calm.up.wait_until(lambda: len(children(calm, "fake_engine")) == 1)


def test_the_server_is_killed_while_the_engine_boots(calm: Faked) -> None:
    seen, server = len(calm.endings()), calm.pids["server"]
    calm.write(strategy="drain", block=SLOW)
    calm.hang_up()
    calm.up.wait_until(lambda: "Retire" in calm.state["commands"][-2:])
    kill(server)
    assert calm.get("/work").status_code == 200, "the server that came back knows that it holds"
    assert "applied" in calm.ending(seen)


@pytest.mark.parametrize("when", ["dies-in-proof", "dies-in-switch"])
@pytest.mark.parametrize("how", [{}, {"strategy": "surge", "block": OTHER}], ids=["live", "surge"])
def test_the_server_dies_under_a_command(calm: Faked, when: str, how: dict[str, str]) -> None:
    (calm.folder / "model" / when).touch()
    before = calm.pids
    assert "applied" in calm.edit(names=when, **how)
    assert not (calm.folder / "model" / when).exists()
    assert calm.pids["server"] != before["server"]
    assert calm.state["names"] == [when]


def test_a_killed_server_starts_with_what_runs_now(calm: Faked) -> None:
    calm.edit(more="limits: {queue: {requests: 11}}")
    kill(calm.pids["server"])
    calm.up.wait_until(lambda: calm.state["queue"] == 11)


def test_a_killed_engine_starts_with_what_it_was_told(calm: Faked) -> None:
    calm.edit(more="engine: {batching: {max_sequences: 5}}")
    pid = calm.pids["engine"]
    kill(pid)
    calm.up.wait_until(lambda: calm.get("/work").status_code == 200 and calm.pids["engine"] != pid)
    assert "unchanged" in calm.edit(more="engine: {batching: {max_sequences: 5}}")


@pytest.mark.parametrize("phase", ["boot generation 2", "settle"])
def test_a_killed_supervisor_comes_back_to_the_last_good_state(tmp_path: Path, phase: str) -> None:
    with faked(tmp_path, boot=False) as made:
        with again(made, FAKE_SETTLE="30"):
            block = HANGS if phase.startswith("boot") else OTHER
            made.write(block=block)
            made.hang_up()
            before = children(made, "fake_")
            made.up.wait_until(lambda: len(children(made, "fake_engine")) == 2)
            if phase == "settle":
                made.up.wait_for("^  switch ")
            made.up.process.kill()
            made.up.process.wait()
            psutil.wait_procs([psutil.Process(pid) for pid in before if psutil.pid_exists(pid)], timeout=10)
        made.write(block=REFUSES)
        with again(made):
            made.up.wait_for("AP0612 error .*revision 1, the last good one, is booted instead")
            assert made.get("/work").status_code == 200
            assert not made.state["successful"]
            assert "applied" in made.edit(block=OTHER)
            assert made.state["successful"]
            assert made.up.stop() == 0
    outcomes = [(revision.number, revision.outcome) for revision in revisions(made)]
    assert outcomes == [(1, "applied"), (2, "interrupted"), (3, "failed"), (4, "applied"), (5, "applied")]


def test_an_invalid_file_at_start_falls_back_loudly(tmp_path: Path) -> None:
    with faked(tmp_path, boot=False) as made:
        with again(made) as up:
            assert up.stop() == 0
        made.write(more="limts: {}")
        with again(made) as up:
            up.wait_for(r"fake\.yaml:8:1 AP01\d\d error")
            up.wait_for("AP0612")
            assert made.state["sync"] == "Invalid"
            assert made.get("/work").status_code == 200
            assert up.stop() == 0


def test_without_a_good_state_a_failing_file_ends_up(tmp_path: Path) -> None:
    with faked(tmp_path, boot=False, block=REFUSES) as made:
        with again(made, ready=False) as up:
            assert up.process.wait(30) == 2
            assert re.search("AP0604 .*no such device", up.output)
        made.write()
        with again(made) as up:
            assert up.stop() == 0
    assert [revision.outcome for revision in revisions(made)] == ["failed", "applied"]


def test_a_damaged_history_is_told_at_the_next_start(tmp_path: Path) -> None:
    with faked(tmp_path) as made:
        assert made.up.stop() == 0
    (made.state_folder / "history.sqlite").write_bytes(b"garbage" * 9_999)
    with again(made) as up:
        up.wait_for(r"the history was damaged .* and is now history\.sqlite\.damaged-1")


def test_saves_are_followed(tmp_path: Path) -> None:
    with faked(tmp_path, watch="true") as made:
        made.write(watch="true", more="limits: {queue: {requests: 9}}")
        made.up.wait_until(lambda: made.state["queue"] == 9)
        made.up.wait_for("revision 2: the profile was saved")
        new = made.folder / "new.yaml"
        made.profile.rename(new)
        text = new.read_text().replace("requests: 9", "requests: 10")
        new.write_text(text)
        new.rename(made.profile)
        made.up.wait_until(lambda: made.state["queue"] == 10)


def test_an_edit_back_to_what_the_watcher_saw_last_is_not_lost(tmp_path: Path) -> None:
    """Somebody else asks for the first save before the watcher looks: what it knows is older than what runs."""
    with faked(tmp_path, watch="true", more="limits: {queue: {requests: 9}}") as made:
        for _ in range(8):
            made.edit(watch="true", more="limits: {queue: {requests: 10}}")
            seen = len(made.endings())
            made.write(watch="true", more="limits: {queue: {requests: 9}}")
            assert "applied" in made.ending(seen)
            assert made.state["queue"] == 9


def test_an_edit_replaces_an_engine_that_keeps_dying(tmp_path: Path) -> None:
    with faked(tmp_path, environment={"FAKE_DEATHS": "2"}) as made:
        made.write(strategy="surge", block=SLOW)
        made.hang_up()
        made.up.wait_until(lambda: len(children(made, "fake_engine")) == 2)
        first = made.pids["engine"]
        kill(first)
        made.up.wait_until(lambda: made.get("/ready").status_code == 200 and made.pids["engine"] != first)
        second = made.pids["engine"]
        kill(second)
        made.up.wait_until(lambda: second not in children(made, "fake_engine"))
        assert "applied" in made.ending(0)
        assert made.get("/work").status_code == 200
        assert made.up.stop() == 0


@pytest.mark.parametrize(
    ("settings", "phase"),
    [({"block": HANGS}, ""), ({"block": OTHER}, "^  switch "), ({"block": HANGS, "strategy": "drain"}, "^  empty ")],
    ids=["booting", "settling", "held"],
)
def test_sigterm_amid_a_reload_leaves_nothing(tmp_path: Path, settings: dict[str, str], phase: str) -> None:
    with faked(tmp_path, environment={"FAKE_SETTLE": "30"}) as made:
        count = 1 if phase.startswith("^  empty") else 2
        made.write(**settings)
        made.hang_up()
        made.up.wait_until(lambda: len(children(made, "fake_engine")) == count)
        if phase:
            made.up.wait_for(phase)
        left = [psutil.Process(pid) for pid in children(made, "fake_")]
        assert made.up.stop() == 0
        assert not psutil.wait_procs(left, timeout=10)[1]
        assert revisions(made)[-1].outcome is None
        made.write()
        with again(made) as up:
            assert up.stop() == 0
    assert [revision.outcome for revision in revisions(made)] == ["applied", "interrupted", "applied"]
