"""What history keeps, in which order, and for how long."""

import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance.diagnostics import ApplianceError
from appliance.supervise.history import History
from appliance.supervise.history_read import read_history
from appliance.supervise.history_records import Commit, Ending, Phase, text_hash


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "history.sqlite"


@pytest.fixture
def history(path: Path) -> Iterator[History]:
    made = History(path)
    yield made
    made.close()


def tried(history: History, text: str, outcome: Ending = "applied", base: str = "") -> int:
    number = history.begin(text, text_hash(text), "file", base_hash=text_hash(base))
    history.finish(number, outcome, generation=1)
    return number


def test_a_revision_comes_back_whole(path: Path, history: History) -> None:
    tried(history, "size: 1\n")
    commit = Commit(id="1f2e3d4c", author="Ada", subject="Ärger")
    number = history.begin("size: 2\n", "h2", "git", "Ada", "why", text_hash("size: 1\n"), commit=commit)
    history.phase(number, "validate", 0.5)
    history.phase(number, "boot", 2.5, "engine 2")
    history.finish(number, "applied", 3, {"chat": "ok", "tokens": 1}, plan="p", changes=("a: 1 -> 2",), action="surge")
    history.close()
    again = History(path)
    found = again.get(number)
    again.close()
    assert found is not None
    assert (found.text, found.hash, found.source, found.actor, found.note) == ("size: 2\n", "h2", "git", "Ada", "why")
    assert found.base == 1 and found.commit == commit and found.action == "surge" and found.plan == "p"
    assert found.diff.splitlines()[3:] == ["-size: 1", "+size: 2"]
    assert found.phases == (Phase("validate", 0.5), Phase("boot", 2.5, "engine 2"))
    assert (found.outcome, found.generation, found.proof) == ("applied", 3, {"chat": "ok", "tokens": 1})


def test_only_its_owner_may_read_it(path: Path, history: History) -> None:
    tried(history, "a")
    modes = {part.name: stat.S_IMODE(part.stat().st_mode) for part in path.parent.iterdir()}
    assert set(modes.values()) == {0o600}, modes


def test_last_good_looks_back_from_a_number_for_another_text(history: History) -> None:
    tried(history, "one")
    two = tried(history, "two")
    tried(history, "three", "failed")
    again = tried(history, "two")
    assert history.last_good() == history.get(again)
    back = history.last_good(before=again, unlike=(text_hash("two"), ""))
    assert back is not None and back.text == "one"
    assert history.last_good(before=again) == history.get(two)
    assert history.last_good(before=1) is None


def test_order_is_by_number_when_the_clock_jumps_back(path: Path) -> None:
    wall = iter((9000.0, 100.0, 50.0))
    steady = iter((0.0, 5.0, 7.0, 9.0, 10.0, 12.0))
    history = History(path, clock=lambda: next(wall), monotonic=lambda: next(steady))
    for text in ("a", "b", "c"):
        tried(history, text)
    found = history.list()
    history.close()
    assert [revision.text for revision in found] == ["c", "b", "a"]
    assert [revision.seconds for revision in found] == [2.0, 2.0, 5.0]


def test_growth_is_bounded_and_good_and_pinned_ones_stay(path: Path) -> None:
    history = History(path, kept=30)
    for index in range(25):
        tried(history, f"good {index}")
    history.pin(2, away="x")
    for index in range(100):
        tried(history, f"bad {index}", "invalid")
    numbers = [revision.number for revision in history.list(1000)]
    history.close()
    assert numbers == [*range(125, 95, -1), *range(25, 5, -1), 2]


def test_unfinished_ones_are_found_by_the_next_process(path: Path, history: History) -> None:
    tried(history, "one")
    left = history.begin("two", "h", "file")
    history.phase(left, "boot", 1.0)
    history.close()
    again = History(path)
    assert [revision.number for revision in again.unfinished()] == [left]
    again.finish(left, "interrupted")
    found = again.get(left)
    assert found is not None and found.outcome == "interrupted" and found.seconds is None and found.phases
    assert not again.unfinished() and again.begin("three", "h", "file") == left + 1
    again.close()


def test_a_pin_lasts_until_it_is_taken_away(path: Path, history: History) -> None:
    tried(history, "one")
    history.pin(1, away="abc")
    history.close()
    again = History(path)
    assert again.pinned is not None and (again.pinned.away, again.pinned.revision) == ("abc", 1)
    again.unpin()
    again.close()
    once_more = History(path)
    assert once_more.pinned is None
    once_more.close()


def test_a_number_that_was_never_given_cannot_be_finished(history: History) -> None:
    with pytest.raises(KeyError):
        history.finish(7, "applied")


def test_history_of_a_newer_appliance_is_refused_and_left_alone(path: Path, history: History) -> None:
    tried(history, "one")
    history.close()
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 99")
    database.close()
    with pytest.raises(ApplianceError, match=r"AP0901 .*schema 99"):
        History(path)
    assert [part.name for part in path.parent.iterdir()] == ["history.sqlite"]


def test_looking_into_a_folder_changes_nothing_in_it(tmp_path: Path, path: Path, history: History) -> None:
    tried(history, "one")
    before = {part.name: (part.read_bytes(), part.stat().st_mtime_ns) for part in tmp_path.iterdir()}
    assert "history.sqlite-wal" in before
    with read_history(tmp_path) as copy:
        assert [revision.text for revision in copy.list()] == ["one"]
    assert {part.name: (part.read_bytes(), part.stat().st_mtime_ns) for part in tmp_path.iterdir()} == before
