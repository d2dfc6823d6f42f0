"""The real supervisor with a short settle time: `python fake_up.py STATE_FOLDER PROFILE [BIND]`.

Over fake children on a large machine, or with FAKE_CHILDREN=no over the real ones on this one.
"""

import asyncio
import contextlib
import os
import sys
from pathlib import Path

from appliance.diagnostics import ApplianceError, Position
from appliance.plan import MACHINES, probe
from appliance.source.silent import Silent
from appliance.supervise.folder import StateFolder
from appliance.supervise.generation import Generation
from appliance.supervise.history import FILE, History
from appliance.supervise.history_records import Proof
from appliance.supervise.report_current import CurrentReport
from appliance.supervise.restart import RestartPolicy
from appliance.supervise.road import Checked, Road
from appliance.supervise.supervisor import Supervisor
from appliance.supervise.transition import Transition


def with_defects() -> None:
    """A text with `# a defect` raises where it is checked, one that serves the name `defect` where it is proven."""
    check, prove = Road.check, Transition.prove

    def checking(self: Road, text: str | None = None, name: str | None = None, base: Path | None = None) -> Checked:
        saved = self.file.read_text() if text is None and self.file.is_file() else text
        if "# a defect" in (saved or ""):
            raise ZeroDivisionError("of the check")
        return check(self, text, name, base)

    async def proving(self: Transition, generation: Generation, asking: bool = True) -> Proof:
        if "defect" in self.candidate.plan.server.served_names:
            raise ZeroDivisionError("of the proof")
        return await prove(self, generation, asking)

    Road.check, Transition.prove = checking, proving  # type: ignore[method-assign]


def main() -> int:
    with_defects()
    state, profile = Path(sys.argv[1]), Path(sys.argv[2])
    bind = sys.argv[3] if len(sys.argv) > 3 else None
    report = CurrentReport(os.environ.get("FAKE_REPORT", "text"))
    fake = os.environ.get("FAKE_CHILDREN") != "no"
    try:
        with (
            StateFolder(state, Position(str(profile))) as folder,
            contextlib.closing(History(folder.path / FILE)) as history,
        ):
            supervisor = Supervisor(
                Road(profile, MACHINES["cpu-16c-64g"] if fake else probe(), Silent()),
                folder,
                history,
                report,
                bind,
                policy=RestartPolicy(limit=int(os.environ.get("FAKE_DEATHS", "3")), first=0.05, ceiling=0.2),
                stall_seconds=float(os.environ["FAKE_STALL"]) if "FAKE_STALL" in os.environ else None,
                settle_seconds=float(os.environ.get("FAKE_SETTLE", "0.5")),
                modules={"engine": "fake_engine", "server": "fake_server"} if fake else {},
            )
            return asyncio.run(supervisor.run())
    except ApplianceError as error:
        print(error, file=sys.stderr)
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
