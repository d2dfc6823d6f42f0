"""Nothing that vLLM started may outlive it: its engine cores and workers do, when its main process is killed."""

import ctypes
import sys

import psutil

PR_SET_CHILD_SUBREAPER = 36
ROUNDS = 20
"""Each round kills what the one before had time to start."""


def adopt_orphans() -> None:
    """From here on every orphan among this process's descendants becomes its own child (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)


def kill_descendants() -> None:
    """Kills and reaps every process below this one, whatever session or group it put itself into."""
    this = psutil.Process()
    for _ in range(ROUNDS):
        below = this.children(recursive=True)
        for process in below:
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue
        if not psutil.wait_procs(below, timeout=1.0)[1] and not this.children(recursive=True):
            return
