"""Nothing that vLLM started may outlive it: its engine cores and workers do, when its main process is killed."""

import ctypes
import os
import signal
import sys
from collections.abc import Callable

import psutil

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
ROUNDS = 20
"""Each round kills what the one before had time to start."""


def adopt_orphans() -> None:
    """From here on every orphan among this process's descendants becomes its own child (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent() -> Callable[[], None] | None:
    """For a child before exec: the kernel kills it when this process dies, even by SIGKILL (Linux)."""
    if sys.platform != "linux":
        return None
    prctl, parent = ctypes.CDLL(None).prctl, os.getpid()

    def ask() -> None:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)

    return ask


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
