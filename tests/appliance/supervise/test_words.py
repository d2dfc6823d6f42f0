"""What `appliance up` says of edits: true, in the units of the profile, with the way out."""

import os
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
