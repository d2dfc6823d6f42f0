"""What a command's exception becomes: diagnostics for known ones, a traceback in a log for the rest."""

import os
import sys
import tempfile
import time
import traceback
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
    if type(error).__name__ == "CheckpointError":
        from appliance.engine.checkpoint.errors import CheckpointError

        if isinstance(error, CheckpointError):
            print(f"error: {error}", file=sys.stderr)
            return 2
    return None


def unknown_failure(error: Exception) -> int:
    name = f"appliance-crash-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.log"
    report = [f"appliance {__version__}, Python {sys.version}\n", *traceback.format_exception(error)]
    path = Path(tempfile.gettempdir(), name)
    path.touch(mode=0o600)
    path.write_text("".join(report), encoding="utf-8")
    print(f"error: the appliance has a defect: {type(error).__name__}; its traceback is in {path}", file=sys.stderr)
    return 3
