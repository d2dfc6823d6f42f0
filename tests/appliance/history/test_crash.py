"""kill -9 of a real `appliance up` while edits come: the next one boots what was good, whatever the file says."""

import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import httpx
from running import ROOT, Running, boot

from appliance.supervise.admin_client import AdminClient
from appliance.supervise.admin_protocol import Status, StatusAnswer
from appliance.supervise.history_read import read_history
from appliance.supervise.history_records import Revision
from appliance.supervise.status import ApplianceStatus

PROFILE = """\
schema: 1
name: tiny
release: "0.32"
model: {{source: {model}}}
kv_cache: {{size: 64MiB}}
engine: {{batching: {{max_sequences: {sequences}}}}}
reload: {{watch: false, drain: {drain}s}}
"""
NO_PROFILE = "name: tiny\nthis is no profile any more\n"
KILLS = 2


def status(state: Path) -> ApplianceStatus:
    with AdminClient(state, "tiny") as client:
        return client.ask(Status(), StatusAnswer).status


def storm(running: Running, file: Path, model: Path, chance: random.Random) -> None:
    """Edits of every kind, good and bad, until it is killed in the middle of one."""
    end = time.monotonic() + chance.uniform(0.3, 2.0)
    while time.monotonic() < end:
        text = PROFILE.format(model=model, sequences=chance.randint(2, 9), drain=chance.randint(5, 30))
        file.write_text(chance.choice([text, text, text.replace("drain", "drian"), text + "kv_cache: ["]))
        running.process.send_signal(signal.SIGHUP)
        time.sleep(chance.uniform(0.0, 0.2))
    running.process.kill()
    running.process.wait()


def left_behind(state: Path) -> tuple[Revision, list[int]]:
    """(the last good revision, numbers of what was being tried) by the folder alone."""
    with read_history(state) as history:
        good = history.last_good()
        assert good is not None
        return good, [revision.number for revision in history.unfinished()]


def test_it_comes_back_to_the_last_good_revision(tiny_model: Callable[..., Path], tmp_path: Path) -> None:
    model, chance = tiny_model("qwen3"), random.Random(11)
    file, state = tmp_path / "profile.yaml", tmp_path / "state"
    with boot(PROFILE.format(model=model, sequences=8, drain=20), tmp_path) as running:
        storm(running, file, model, chance)
    for _ in range(KILLS - 1):
        good, _ = left_behind(state)
        with boot(NO_PROFILE, tmp_path) as running:
            running.wait_until(lambda: status(state).state != "starting")
            told = status(state)
            assert (told.state, told.hash, told.exit_code) == ("degraded", good.hash, 1)
            assert told.file is not None and told.file.state == "invalid"
            storm(running, file, model, chance)
    good, unfinished = left_behind(state)
    with boot(NO_PROFILE, tmp_path) as running:
        assert status(state).hash == good.hash
        assert httpx.get(f"{running.base_url}/ready", timeout=20).status_code == 200
        command = [sys.executable, "-m", "appliance", "history", "--format", "json", "--state-dir", str(state)]
        told = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout)
        outcomes = {revision["number"]: revision["outcome"] for revision in told["revisions"]}
        assert None not in outcomes.values()
        assert all(outcomes[number] == "interrupted" for number in unfinished if number in outcomes)
