"""--bind stands above the profile: an edit of security.bind moves nothing, is told so beforehand, and is no drift."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from faked import SUPPORT, Faked, faked
from running import ROOT, start


@pytest.fixture
def bound(tmp_path: Path) -> Iterator[Faked]:
    """One that listens where the command line says, with a state folder that is not called like it."""
    with faked(tmp_path, boot=False) as made:
        fake_up, where = str(SUPPORT / "fake_up.py"), [str(made.state_folder), str(made.profile)]
        with start([sys.executable, fake_up, *where, "127.0.0.1:0"], {"PYTHONPATH": f"{ROOT}:{SUPPORT}"}) as up:
            made.running = up
            up.base_url = up.wait_for(r"ready in .* on (http://127\.0\.0\.1:\d+)").group(1)
            yield made


def asked(made: Faked, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "appliance", *words, "--state-dir", str(made.state_folder)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_an_edit_of_the_address_is_told_as_none(bound: Faked) -> None:
    pid = bound.pids["server"]
    bound.write(bind="127.0.0.1:9")
    ran = asked(bound, "plan", str(bound.profile), "--against", "running")
    assert ran.returncode == 0, ran.stderr
    assert "new server processes" not in ran.stdout and "another socket" not in ran.stdout, ran.stdout
    told = asked(bound, "status", "--exit-code")
    assert told.returncode == 0 and "synced" in told.stdout and "security.bind" not in told.stdout, told.stdout
    bound.hang_up()
    assert "applied" in bound.ending(0)
    assert bound.pids["server"] == pid


def test_it_goes_by_its_own_name_whatever_its_folder_is_called(bound: Faked) -> None:
    assert bound.state_folder.name == "state"
    bound.write(pool="2MiB")
    ran = asked(bound, "plan", str(bound.profile), "--against", "running")
    assert "Changes from fake as it runs" in ran.stdout, ran.stdout + ran.stderr
    bound.up.stop()
    told = asked(bound, "status")
    assert told.stdout.startswith("fake  stopped"), told.stdout
    assert "no appliance named fake runs" in asked(bound, "reload").stderr
