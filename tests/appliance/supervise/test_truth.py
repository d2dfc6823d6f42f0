"""What nobody asked for and nothing tells: processes that live and do not serve."""

import subprocess
import sys
from pathlib import Path

from faked import Faked, faked


def status(made: Faked) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "appliance", "status", "--exit-code", "--state-dir", str(made.state_folder)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_an_engine_that_answers_no_more_is_told(tmp_path: Path) -> None:
    with faked(tmp_path) as made:
        assert status(made).returncode == 0
        door = Path(made.state["addresses"][0].removeprefix("ipc://"))
        door.rename(door.with_suffix(".away"))
        made.up.wait_for("its processes run, but it does not serve")
        ran = status(made)
        assert ran.returncode == 1 and "degraded" in ran.stdout and "does not serve" in ran.stdout, ran.stdout
        door.with_suffix(".away").rename(door)
        made.up.wait_for("serves again")
        assert status(made).returncode == 0


def test_a_removed_state_folder_is_told_and_its_successor_left_alone(tmp_path: Path) -> None:
    with faked(tmp_path) as made:
        made.state_folder.rename(tmp_path / "away")
        made.up.wait_for("AP0603 error the state folder was removed under this appliance, which serves on")
        for edit in ({"more": "limits: {queue: {requests: 9}}"}, {"strategy": "drain", "block": "32"}):
            seen = len(made.endings())
            made.write(**edit)
            made.hang_up()
            assert "it cannot be here" in made.ending(seen), made.up.output
            assert made.get("/state").status_code == 200
        (made.state_folder / "run").mkdir(parents=True)
        (made.state_folder / "lock").touch()
        assert made.up.stop() == 0
        assert sorted(path.name for path in made.state_folder.iterdir()) == ["lock", "run"]
