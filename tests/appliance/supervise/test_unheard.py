"""Nobody reads what `up` writes, or nothing can be written: it serves, reloads and ends all the same."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from faked import SUPPORT, Faked, faked
from running import ROOT
from waiting import until


def told(made: Faked) -> dict[str, Any]:
    file = made.state_folder / "status.json"
    status: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    return status


@pytest.mark.parametrize("report", ["text", "json"])
@pytest.mark.parametrize("how", ["left", "full"])
def test_it_goes_on(tmp_path: Path, report: str, how: str) -> None:
    with faked(tmp_path, boot=False) as made:
        if how == "left":
            reading, writing = os.pipe()
        else:
            reading, writing = None, os.open("/dev/full", os.O_WRONLY)
        command = [sys.executable, str(SUPPORT / "fake_up.py"), str(made.state_folder), str(made.profile)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(SUPPORT)]), "FAKE_REPORT": report}
        process = subprocess.Popen(command, stdout=writing, stderr=writing, env=environment)
        os.close(writing)
        try:
            until(lambda: told(made).get("state") == "ready", seconds=60.0)
            if reading is not None:
                os.close(reading)
            made.write(more="limits: {queue: {requests: 9}}")
            process.send_signal(signal.SIGHUP)
            until(lambda: httpx.get(f"{told(made)['url']}/state", timeout=30).json()["queue"] == 9, seconds=60.0)
            children = psutil.Process(process.pid).children(recursive=True)
            assert len(children) == 2
            process.terminate()
            ended = process.wait(60)
            assert not psutil.wait_procs(children, timeout=10)[1]
            assert ended == 0 or how == "full"
        finally:
            for child in psutil.Process(process.pid).children(recursive=True) if process.poll() is None else ():
                child.kill()
            process.kill()
            process.wait()
