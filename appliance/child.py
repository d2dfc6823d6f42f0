"""How a child process of ours is started: same interpreter, no current folder on its path, never left alone."""

import ctypes
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import appliance

PR_SET_PDEATHSIG = 1


def command(module: str, *arguments: str) -> list[str]:
    return [sys.executable, "-P", "-m", module, *arguments]


def environment() -> dict[str, str]:
    """This process's environment; in a checkout that is not installed, also the way to the package."""
    values = dict(os.environ)
    package = Path(appliance.__file__).resolve().parent
    if not (package / "engine").is_dir():
        inherited = values.get("PYTHONPATH")
        values["PYTHONPATH"] = os.pathsep.join([str(package.parent), *([inherited] if inherited else [])])
    return values


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
