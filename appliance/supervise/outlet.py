"""Where a report is written. A reader that left, or a full disk, silences it and takes nothing else down."""

import contextlib
import os
from typing import IO, Any

from rich.console import Console


class Outlet(Console):
    def print(self, *objects: Any, **options: Any) -> None:
        with contextlib.suppress(OSError):
            super().print(*objects, **options)

    def on_broken_pipe(self) -> None:
        self.quiet = True
        silence(self.file)


def silence(stream: IO[str]) -> None:
    """From here on it writes to nowhere: what is still buffered cannot fail at the end either."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def write_line(stream: IO[str], line: str) -> None:
    try:
        print(line, file=stream, flush=True)
    except BrokenPipeError:
        silence(stream)
    except OSError:
        return
