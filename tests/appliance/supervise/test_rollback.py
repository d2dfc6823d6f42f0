"""Rollbacks in a row over fake children: each goes one state further back, and the file's text stays away."""

import subprocess
import sys
from pathlib import Path

from faked import Faked, again, faked


def rollback(made: Faked, *words: str) -> subprocess.CompletedProcess[str]:
    return command(made, "rollback", *words)


def command(made: Faked, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "appliance", *words, "--state-dir", str(made.state_folder)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_each_goes_further_back_also_over_a_restart(tmp_path: Path) -> None:
    with faked(tmp_path, boot=False) as made:
        with again(made) as up:
            for requests in ("11", "12", "13"):
                assert "applied" in made.edit(more=f"limits: {{queue: {{requests: {requests}}}}}")
            for requests in (12, 11):
                ran = rollback(made)
                assert ran.returncode == 0, ran.stderr
                assert made.state["queue"] == requests
            assert up.stop() == 0
        with again(made) as up:
            up.wait_for("AP0613")
            assert made.state["queue"] == 11
            assert rollback(made).returncode == 0
            assert made.state["queue"] not in (11, 12, 13), "as it was booted first"
            ran = rollback(made)
            assert ran.returncode == 2 and "AP0907" in ran.stderr
            assert rollback(made, "4").returncode == 0
            assert made.state["queue"] == 13, "the text that the file holds"
            assert made.state["sync"] == "Synced"
            assert rollback(made).returncode == 0
            assert made.state["queue"] == 12
            assert made.state["sync"] == "OutOfSync"
            assert up.stop() == 0


def test_the_second_does_not_come_back_to_what_the_first_one_left(tmp_path: Path) -> None:
    """That text stands further back in the history as well, where it was tried before."""
    with faked(tmp_path) as made:
        assert "applied" in made.edit(more="limits: {queue: {requests: 11}}")
        assert "applied" in made.edit(more="limits: {queue: {requests: 12}}")
        assert rollback(made).returncode == 0
        assert command(made, "reload").returncode == 0
        assert made.state["queue"] == 12
        assert rollback(made).returncode == 0
        assert made.state["queue"] == 11
        assert rollback(made).returncode == 0
        assert made.state["queue"] not in (11, 12), "as it was booted first"
        assert made.up.stop() == 0


def test_to_what_runs_already_leaves_the_file_in_sync(tmp_path: Path) -> None:
    """Found by the walk, seed 23: metrics said OutOfSync and status said synced."""
    with faked(tmp_path) as made:
        assert "applied" in made.edit(more="limits: {queue: {requests: 11}}")
        assert "applied" in made.edit(more="limits: {queue: {requests: 12}}")
        assert rollback(made, "3").returncode == 0
        assert made.state["sync"] == "Synced"
        assert rollback(made, "2").returncode == 0
        assert made.state["sync"] == "OutOfSync"
        assert made.up.stop() == 0


def test_while_an_edit_settles_it_undoes_that_edit_and_no_more(tmp_path: Path) -> None:
    with faked(tmp_path, environment={"FAKE_SETTLE": "4"}) as made:
        assert "applied" in made.edit(more="limits: {queue: {requests: 11}}")
        assert "applied" in made.edit(more="limits: {queue: {requests: 12}}")
        seen = len(made.endings())
        made.write(block="32", more="limits: {queue: {requests: 13}}")
        made.hang_up()
        made.up.wait_until(lambda: made.state["queue"] == 13)
        ran = rollback(made)
        assert ran.returncode == 0, ran.stderr
        assert [ending.split(",")[0].split(": ")[1] for ending in made.endings()[seen:]] == ["applied", "applied"]
        assert made.state["queue"] == 12
        assert made.state["sync"] == "OutOfSync"
        assert made.up.stop() == 0
        with again(made) as up:
            up.wait_for("AP0613")
            assert made.state["queue"] == 12


def test_while_an_edit_boots_it_gives_that_edit_up(tmp_path: Path) -> None:
    with faked(tmp_path) as made:
        assert "applied" in made.edit(more="limits: {queue: {requests: 11}}")
        seen = len(made.endings())
        made.write(block="256", more="limits: {queue: {requests: 12}}")
        made.hang_up()
        made.up.wait_for("surge: block_tokens: 16 -> 256")
        ran = rollback(made)
        assert ran.returncode == 0, ran.stderr
        assert "left for a newer state" in made.ending(seen)
        assert made.state["queue"] == 11
        assert made.up.stop() == 0
