"""The steps of one revision: timed, told to whoever watches, kept in history."""

import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from appliance.supervise.history_records import Phase
from appliance.supervise.record import Record
from appliance.supervise.report import Report


@dataclass
class Step:
    """What a phase can say about itself when it has ended well."""

    detail: str = ""


@dataclass
class Phases:
    report: Report
    record: Record
    ended: list[tuple[str, float]] = field(default_factory=list)
    now: str = ""
    """The one that runs."""
    watchers: Collection[Callable[[Phase], None]] = ()
    """Whoever waits at the admin channel."""

    @contextmanager
    def phase(self, name: str) -> Iterator[Step]:
        """One that fails is told as well, as far as it came."""
        begun, step = time.monotonic(), Step()
        self.now = name
        try:
            yield step
        except BaseException as error:
            step.detail = f"failed: {error}".partition("\n")[0]
            raise
        finally:
            self.add(name, time.monotonic() - begun, step.detail)
            self.now = ""

    def add(self, name: str, seconds: float, detail: str = "") -> None:
        self.ended.append((name, seconds))
        self.report.stage(name, seconds, detail)
        self.record.phase(name, seconds, detail)
        for told in tuple(self.watchers):
            told(Phase(name, seconds, detail))
