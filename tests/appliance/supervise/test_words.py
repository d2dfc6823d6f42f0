"""What `appliance up` says of edits: true, in the units of the profile, with the way out."""

import os
import subprocess
import sys
from pathlib import Path

from faked import faked


def test_edits_are_told_as_what_they_are(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("a key that is long enough\n")
    key.chmod(0o600)
    settings = {"watch": "true", "keys": f"{{file: {key}}}"}
    with faked(tmp_path, **settings) as made:
        made.write(**settings, pool="2MiB")
        made.up.wait_for("kv_cache.size: 1.* MiB -> 2.* MiB", 20)
        made.ending(0)
        key.rename(tmp_path / "away")
        made.up.wait_for(r"^revision 3: .*key removed", 20)
        (tmp_path / "away").rename(key)
        made.up.wait_for(r"^revision 4: .*key returned", 20)
        made.write(**settings, block="64")
        made.up.wait_for("AP0609 error .*correct it, or `appliance reload` tries it again", 20)
        made.profile.unlink()
        made.up.wait_for(r"^revision 6: .*fake\.yaml removed", 20)
        made.up.wait_for("AP0001 error cannot be read: No such file or directory", 20)
        os.mkfifo(made.profile)
        made.up.wait_for(r"^revision 7: .*fake\.yaml unreadable: not a regular file", 20)
        made.up.wait_for("AP0001 error is a pipe that nobody writes to", 20)


def test_a_command_tells_what_it_waits_for(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "appliance", "reload", "--state-dir", str(tmp_path / "state")]
    with faked(tmp_path, environment={"FAKE_SETTLE": "4"}) as made:
        made.write(strategy="surge", block="32")
        made.hang_up()
        made.up.wait_for("^  switch ")
        made.write(strategy="surge", block="16")
        ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr.splitlines() == ["  waits for revision 2 (sighup): settle ...", "  settle ..."]
    assert "  settle " in ran.stdout
