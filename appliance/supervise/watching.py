"""Saves of the profile, of its secrets and its template become proposals."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from pathlib import Path

from appliance.plan import Plan
from appliance.profile import Profile
from appliance.supervise.proposal import Outcome, Proposal, Source
from appliance.supervise.report import Report
from appliance.supervise.watch import Change, Watcher, What, watched_files

SOURCES: dict[str, Source] = {"file": "file", "secret": "secret"}


class Watching:
    """Construct it before the profile is read for the first time: no save is missed then."""

    def __init__(self, file: Path, propose: Callable[[Proposal], Awaitable[Outcome]], report: Report) -> None:
        self._file, self._propose = file, propose
        self._watcher = Watcher(watched_files(file, None), self._changed, lambda said: report.note(said, "warning"))
        self._proposed: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Until cancelled."""
        try:
            await self._watcher.run()
        finally:
            for task in self._proposed:
                task.cancel()

    def follow(self, profile: Profile, plan: Plan) -> None:
        """What the state that runs now was built from; nothing where it does not want to be followed."""
        self._watcher.replace(watched_files(self._file, profile) if plan.value("reload.watch") else {})

    def reading(self) -> None:
        """The profile is about to be read, for whomever: an edit back to what the watcher saw last is an edit."""
        self._watcher.reading(self._file.absolute())

    async def _changed(self, change: Change) -> None:
        """Not waited for: what is saved meanwhile overtakes it in the queue."""
        saved = change.path == self._file.absolute() and change.what is What.CHANGED
        why = f": {change.detail}" if change.detail else ""
        note = "" if saved else f"{change.path} {change.what}{why}"
        task = asyncio.create_task(self._ask(Proposal(SOURCES[change.source], note=note)))
        self._proposed.add(task)
        task.add_done_callback(self._proposed.discard)

    async def _ask(self, proposal: Proposal) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await self._propose(proposal)
