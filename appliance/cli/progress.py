"""A pull as a person sees it: a bar on a terminal, a few plain lines elsewhere: `appliance.source.Progress`."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from appliance.source import Meter


@dataclass
class _Bar:
    progress: Progress
    task: TaskID

    def update(self, done: int, total: int | None) -> None:
        self.progress.update(self.task, completed=done, total=total)


class Bars:
    def __init__(self, console: Console) -> None:
        self.console = console

    def note(self, text: str) -> None:
        self.console.print(text, highlight=False, soft_wrap=True)

    @contextmanager
    def meter(self, label: str) -> Iterator[Meter]:
        self.note(label)
        columns = (BarColumn(24), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn(compact=True))
        with Progress(TextColumn(" "), *columns, console=self.console, transient=True) as progress:
            yield _Bar(progress, progress.add_task("", total=None))


@dataclass
class _Line:
    label: str
    started: float
    said: float
    done: int = 0
    start: int | None = None

    def update(self, done: int, total: int | None) -> None:
        now = time.monotonic()
        self.start = done if self.start is None else self.start
        self.done = done
        if now - self.said >= 5.0:
            self.said = now
            rate = (done - self.start) / (now - self.started)
            whole = f" of {total / 1e6:,.1f} MB, {(total - done) / max(rate, 1):,.0f} s left" if total else " MB"
            print(f"  {done / 1e6:,.1f}{whole}, {rate / 1e6:,.1f} MB/s", file=sys.stderr, flush=True)


class Lines:
    def note(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    @contextmanager
    def meter(self, label: str) -> Iterator[Meter]:
        self.note(label)
        now = time.monotonic()
        line = _Line(label, now, now)
        yield line
        spent = time.monotonic() - now
        self.note(f"  {line.done / 1e6:,.1f} MB in {spent:.1f} s")


def progress() -> Bars | Lines:
    """On standard error: standard output stays the command's own."""
    console = Console(stderr=True)
    return Bars(console) if console.is_terminal else Lines()
