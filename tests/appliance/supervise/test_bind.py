"""--bind stands above the profile: an edit of security.bind moves nothing, and is told so beforehand."""

import subprocess
import sys
from pathlib import Path

from faked import SUPPORT, faked
from running import ROOT, start


def test_an_edit_of_the_address_is_told_as_none(tmp_path: Path) -> None:
    with faked(tmp_path, boot=False) as made:
        command = [
            sys.executable,
            str(SUPPORT / "fake_up.py"),
            str(made.state_folder),
            str(made.profile),
            "127.0.0.1:0",
        ]
        with start(command, {"PYTHONPATH": f"{ROOT}:{SUPPORT}"}) as up:
            made.running = up
            up.base_url = up.wait_for(r"ready in .* on (http://127\.0\.0\.1:\d+)").group(1)
            pid = made.pids["server"]
            made.write(bind="127.0.0.1:9")
            asked = [sys.executable, "-m", "appliance", "plan", str(made.profile), "--against", "running"]
            ran = subprocess.run(
                [*asked, "--state-dir", str(made.state_folder)], capture_output=True, text=True, timeout=60
            )
            assert ran.returncode == 0, ran.stderr
            assert "new server processes" not in ran.stdout and "another socket" not in ran.stdout, ran.stdout
            made.hang_up()
            assert "applied" in made.ending(0)
            assert made.pids["server"] == pid
