"""A pull's progress told through the report, for logs that a machine reads."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from appliance.source import Meter
from appliance.supervise.report import Report


@dataclass
class _Total:
    done: int = 0

    def update(self, done: int, total: int | None) -> None:
        self.done = done


@dataclass(frozen=True)
class ReportProgress:
    report: Report

    def note(self, text: str) -> None:
        self.report.note(text)

    @contextmanager
    def meter(self, label: str) -> Iterator[Meter]:
        started, total = time.monotonic(), _Total()
        self.note(label)
        yield total
        self.note(f"{label}: {total.done / 1e6:,.1f} MB in {time.monotonic() - started:.1f} s")
