"""History as the state machine writes it: a disk that takes nothing is reported once, and serving goes on."""

import contextlib
from collections.abc import Callable, Iterator

from appliance.plan.text import shown
from appliance.supervise.history import History, HistoryFullError
from appliance.supervise.history_records import Proof, Revision, text_hash
from appliance.supervise.proposal import Outcome, Proposal


class Record:
    """One revision while it is tried."""

    def __init__(self, history: History, refused: Callable[[str], None]) -> None:
        self._history, self._refused = history, refused
        self.revision = 0

    def begin(self, proposal: Proposal, text: str, base_hash: str) -> int:
        asked = proposal.source, proposal.actor, proposal.note
        try:
            self.revision = self._history.begin(text, text_hash(text), *asked, base_hash, commit=proposal.commit)
        except HistoryFullError as error:
            self.revision = error.revision
            self._refused(str(error))
        return self.revision

    def phase(self, name: str, seconds: float, detail: str = "") -> None:
        with self._kept():
            self._history.phase(self.revision, name, seconds, detail)

    def finish(self, outcome: Outcome, proof: Proof, error: str | None, plan: str) -> None:
        changes = tuple(
            f"{change.path}: {shown(change.path, change.before)} -> {shown(change.path, change.after)}"
            for change in outcome.changes
        )
        with self._kept():
            self._history.finish(
                self.revision, outcome.result, outcome.generation, proof, error, plan, changes, outcome.action
            )

    @contextlib.contextmanager
    def _kept(self) -> Iterator[None]:
        try:
            yield
        except HistoryFullError as error:
            self._refused(str(error))


def interrupt_unfinished(history: History) -> tuple[Revision, ...]:
    """What a killed supervisor was trying, now marked so."""
    left = history.unfinished()
    for revision in left:
        with contextlib.suppress(HistoryFullError):
            history.finish(revision.number, "interrupted", error="the supervisor ended meanwhile")
    return left
