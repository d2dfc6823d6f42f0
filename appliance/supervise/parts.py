"""What a running appliance is made of, as handed to everything that changes it."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from appliance.supervise.crew import Crew
from appliance.supervise.folder import StateFolder
from appliance.supervise.front import Front
from appliance.supervise.generation import Engines
from appliance.supervise.history import History, HistoryFullError
from appliance.supervise.report import Report
from appliance.supervise.restart import RestartPolicy
from appliance.supervise.road import Road
from appliance.supervise.server_group import ServerGroup


@dataclass(frozen=True)
class Parts:
    road: Road
    folder: StateFolder
    crew: Crew
    engines: Engines
    servers: ServerGroup
    front: Front
    history: History
    report: Report
    policy: RestartPolicy
    settle_seconds: float
    history_refused: Callable[[str], None]
    """Told each time the disk takes no history."""

    @contextlib.contextmanager
    def history_kept(self) -> Iterator[None]:
        """A write that the disk refuses is told, not raised."""
        try:
            yield
        except HistoryFullError as error:
            self.history_refused(str(error))
