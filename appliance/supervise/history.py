"""Every state that was tried, in SQLite. One thread of one process writes it; the state folder's lock sees to that.

A write that the disk refuses raises HistoryFullError and waits in memory for the next one; reads include what waits.
Kept are the newest 1,000 revisions, the 20 newest applied ones and the pinned one.
"""

import time
from collections.abc import Callable
from difflib import unified_diff
from pathlib import Path

from msgspec.structs import replace

from appliance.supervise.history_records import Commit, Ending, HistoryHealth, Phase, Pin, Proof, Revision
from appliance.supervise.history_store import HistoryFullError, Store

__all__ = ["History", "HistoryFullError", "text_diff"]
KEPT = 1000
FILE = "history.sqlite"


class History:
    def __init__(
        self,
        path: Path,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
        kept: int = KEPT,
    ) -> None:
        """Opens or makes it. A damaged one is moved aside (see `health`), a disk that is full raises nothing here.

        ApplianceError AP0901 when a newer appliance wrote it.
        """
        self._clock, self._monotonic = clock, monotonic
        self._store = Store(path, kept)
        self._trying: dict[int, tuple[Revision, float]] = {}

    def close(self) -> None:
        self._store.close()

    def begin(
        self,
        text: str,
        hash: str,
        source: str,
        actor: str = "",
        note: str = "",
        base_hash: str = "",
        diff: str | None = None,
        commit: Commit | None = None,
    ) -> int:
        """The new revision's number; with HistoryFullError, its `revision`. diff: None = made here from the base."""
        base = self._applied(base_hash)
        if diff is None:
            diff = text_diff(base.text, text, f"revision {base.number}", source) if base else ""
        self._store.last_number += 1
        revision = Revision(
            number=self._store.last_number,
            text=text,
            hash=hash,
            source=source,
            actor=actor,
            note=note,
            at=self._clock(),
            base=base.number if base else None,
            base_hash=base_hash,
            diff=diff,
            commit=commit,
        )
        self._trying[revision.number] = revision, self._monotonic()
        self._store.save(revision)
        return revision.number

    def phase(self, revision: int, name: str, seconds: float, detail: str = "") -> None:
        found, begun = self._trying[revision]
        found = replace(found, phases=(*found.phases, Phase(name, seconds, detail)))
        self._trying[revision] = found, begun
        self._store.save(found)

    def finish(
        self,
        revision: int,
        outcome: Ending,
        generation: int | None = None,
        proof: Proof | None = None,
        error: str | None = None,
        plan: str = "",
        changes: tuple[str, ...] = (),
        action: str = "",
    ) -> None:
        """KeyError for a number that history does not hold. One that an earlier process began gets no `seconds`."""
        found, seconds = self.get(revision), None
        if revision in self._trying:
            found, begun = self._trying.pop(revision)
            seconds = self._monotonic() - begun
        if found is None:
            raise KeyError(revision)
        self._store.save(
            replace(
                found,
                outcome=outcome,
                generation=generation,
                proof=proof or {},
                error=error,
                plan=plan,
                changes=changes,
                action=action,
                seconds=seconds,
            )
        )

    def pin(self, revision: int, away: str, origin: int | None = None) -> None:
        """From a rollback to `origin` on: `revision` stays, and the text with hash `away` is not tried again."""
        self._store.save_pin(Pin(revision=revision, away=away, origin=origin))

    def unpin(self) -> None:
        """The file holds another text than the one that was rolled back from."""
        if self._store.pin is not None:
            self._store.save_pin(None)

    @property
    def pinned(self) -> Pin | None:
        return self._store.pin

    def last_good(self, before: int | None = None, unlike: tuple[str, str] = ("", "")) -> Revision | None:
        """The newest applied one, below number `before` and with another text than those with the hashes `unlike`."""
        limit = before if before is not None else self._store.last_number + 1
        found = self._store.find(
            "outcome = 'applied' AND hash NOT IN (?, ?) AND number < ?",
            (*unlike, limit),
            lambda r: r.outcome == "applied" and r.hash not in unlike and r.number < limit,
            1,
        )
        return found[0] if found else None

    def get(self, number: int) -> Revision | None:
        found = self._store.find("number = ?", (number,), lambda r: r.number == number, 1)
        return found[0] if found else None

    def list(self, limit: int = 20) -> tuple[Revision, ...]:
        """Newest first."""
        return self._store.find("TRUE", (), lambda _: True, limit)

    def unfinished(self) -> tuple[Revision, ...]:
        """Begun and without an outcome, oldest first: being tried, or left so by a killed supervisor."""
        found = self._store.find("outcome IS NULL", (), lambda r: r.outcome is None, KEPT)
        return tuple(reversed(found))

    def health(self) -> HistoryHealth:
        return self._store.health()

    def _applied(self, hash: str) -> Revision | None:
        found = self._store.find(
            "outcome = 'applied' AND hash = ?", (hash,), lambda r: r.outcome == "applied" and r.hash == hash, 1
        )
        return found[0] if found else None


def text_diff(before: str, after: str, before_name: str, after_name: str) -> str:
    """Unified, without a final line break; empty for equal texts."""
    lines = unified_diff(before.splitlines(), after.splitlines(), before_name, after_name, lineterm="")
    return "\n".join(lines)
