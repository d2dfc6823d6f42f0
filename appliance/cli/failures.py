"""What a command's exception becomes: diagnostics for known ones, a traceback in a log for the rest."""

import errno
import os
import sys
import tempfile
import time
import traceback
from contextlib import suppress
from pathlib import Path

from .. import __version__
from ..diagnostics import ApplianceError


def known_failure(error: Exception) -> int | None:
    """Prints a known failure and gives its exit code; None for any other exception."""
    if isinstance(error, ApplianceError):
        from .show import show

        show(error.diagnostics, file=sys.stderr)
        for note in error.notes:
            print(note, file=sys.stderr)
        return error.exit_code
    if isinstance(error, BrokenPipeError):
        silence_output()
        return 1
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        silence_output()
        where = error.filename or "standard output"
        print(f"error: {where}: {error.strerror}; free some space, or write elsewhere", file=sys.stderr)
        return 2
    if type(error).__name__ == "CheckpointError":
        from appliance.engine.checkpoint.errors import CheckpointError

        if isinstance(error, CheckpointError):
            print(f"error: {error}", file=sys.stderr)
            return 2
    return None


def silence_output() -> None:
    """What is still buffered for a standard output that takes nothing would fail again when Python ends."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def unknown_failure(error: Exception) -> int:
    name = f"appliance-crash-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.log"
    report = [f"appliance {__version__}, Python {sys.version}\n", *traceback.format_exception(error)]
    path = Path(tempfile.gettempdir(), name)
    path.touch(mode=0o600)
    path.write_text("".join(report), encoding="utf-8")
    print(f"error: the appliance has a defect: {type(error).__name__}; its traceback is in {path}", file=sys.stderr)
    return 3
