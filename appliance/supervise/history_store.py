"""Revisions and the pin in their file, and in memory what the file has not taken yet."""

import contextlib
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from appliance.supervise import history_file
from appliance.supervise.history_records import Health, HistoryHealth, Pin, Revision

Record = TypeVar("Record")
KEPT_GOOD = 20
KEPT_UNWRITTEN = 50
"""In memory while the disk takes nothing; applied ones go last."""
SAVE = "INSERT OR REPLACE INTO revision VALUES (?, ?, ?, ?)"
PRUNE = (
    "DELETE FROM revision WHERE number <= ? AND number != ? AND number NOT IN "
    "(SELECT number FROM revision WHERE outcome = 'applied' ORDER BY number DESC LIMIT ?)"
)


class HistoryFullError(Exception):
    """The disk took no write. Nothing is lost while this process lives; `revision` is the number it is about."""

    def __init__(self, revision: int, reason: str) -> None:
        super().__init__(f"history cannot be written: {reason}")
        self.revision = revision


class Store:
    def __init__(self, path: Path, kept: int) -> None:
        self._path, self._kept = path, kept
        self._database: sqlite3.Connection | None = None
        self._unwritten: dict[int, Revision] = {}
        self.pin: Pin | None = None
        self._pin_unwritten = False
        self._renewed = self._refused = self._damage = ""
        self._unreadable, self._dropped = False, 0
        self.last_number = 0
        try:
            self._open()
        except sqlite3.Error as error:
            self._refused = str(error)

    def close(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None

    def save(self, revision: Revision) -> None:
        self._unwritten[revision.number] = revision
        while len(self._unwritten) > KEPT_UNWRITTEN:
            others = [one for one in self._unwritten.values() if one.number != revision.number]
            least = min(others, key=lambda one: (one.outcome == "applied", one.number))
            del self._unwritten[least.number]
            self._dropped += 1
        self._write_all(revision.number)

    def save_pin(self, pin: Pin | None) -> None:
        self.pin, self._pin_unwritten = pin, True
        self._write_all(pin.revision if pin else 0)

    def find(
        self, where: str, values: Sequence[object], fits: Callable[[Revision], bool], limit: int
    ) -> tuple[Revision, ...]:
        """Newest first. `where` for what is in the file, `fits` the same for what waits in memory."""
        query = f"SELECT record FROM revision WHERE {where} ORDER BY number DESC"
        found = {one.number: one for one in self._revisions(query, values, limit + len(self._unwritten))}
        found |= self._unwritten
        fitting = [r for r in found.values() if r.number not in self._unwritten or fits(r)]
        return tuple(sorted(fitting, key=lambda r: r.number, reverse=True)[:limit])

    def health(self) -> HistoryHealth:
        count = self._run(lambda database: int(database.execute("SELECT count(*) FROM revision").fetchone()[0]), 0)
        lost = f"{self._dropped} revisions were never written" if self._dropped else ""
        damaged = "some of its records cannot be read" if self._unreadable else ""
        state: Health = "damaged" if damaged or lost else "fine"
        if self._refused or self._renewed:
            state = "unwritable" if self._refused else "renewed"
        detail = "; ".join(part for part in (self._refused, lost, self._renewed, damaged) if part)
        unwritten = len(self._unwritten)
        return HistoryHealth(state=state, revisions=count, unwritten=unwritten, detail=detail, damage=self._damage)

    def _write_all(self, about: int) -> None:
        """Everything that waits. A file that refuses or is damaged is opened anew for the next attempt."""
        try:
            try:
                self._write()
            except sqlite3.DatabaseError as error:
                if not history_file.is_damage(error):
                    raise
                self.close()
                self._write()
        except sqlite3.Error as error:
            self._refused = str(error)
            self.close()
            raise HistoryFullError(about, str(error)) from error
        self._refused = ""

    def _write(self) -> None:
        database = self._open()
        with database:
            database.execute("BEGIN IMMEDIATE")
            rows = [(r.number, r.outcome, r.hash, msgspec.json.encode(r)) for r in self._unwritten.values()]
            database.executemany(SAVE, rows)
            if self._pin_unwritten:
                database.execute("DELETE FROM pin")
                if self.pin is not None:
                    database.execute("INSERT INTO pin VALUES (1, ?)", (msgspec.json.encode(self.pin),))
            pinned = self.pin.revision if self.pin else 0
            database.execute(PRUNE, (self.last_number - self._kept, pinned, KEPT_GOOD))
        self._unwritten.clear()
        self._pin_unwritten = False

    def _revisions(self, query: str, values: Sequence[object], limit: int) -> list[Revision]:
        """Those that can be read; nothing where the file cannot be."""

        def read(database: sqlite3.Connection) -> list[Revision]:
            found = []
            for (record,) in database.execute(query, values):
                try:
                    found.append(msgspec.json.decode(record, type=Revision))
                except msgspec.DecodeError:
                    self._unreadable = True
                if len(found) == limit:
                    break
            return found

        return self._run(read, [])

    def _run(self, read: Callable[[sqlite3.Connection], Record], nothing: Record) -> Record:
        """Again on a new file where damage is met."""
        for _ in range(2):
            try:
                return read(self._open())
            except sqlite3.Error as error:
                self.close()
                self._refused = str(error)
                if not history_file.is_damage(error):
                    break
        return nothing

    def _open(self) -> sqlite3.Connection:
        if self._database is not None:
            return self._database
        salvaged: list[Revision] = []
        try:
            database = history_file.connect(self._path)
        except sqlite3.Error as error:
            if not history_file.is_damage(error):
                raise
            salvaged = self._move_aside(str(error))
            database = history_file.connect(self._path)
        self._database = database
        if not self._pin_unwritten:
            pins = [record for (record,) in database.execute("SELECT record FROM pin")]
            self.pin = next(iter(_decoded(pins, Pin)), None)
        newest = database.execute("SELECT coalesce(max(number), 0) FROM revision").fetchone()[0]
        self._unwritten = {r.number: r for r in salvaged} | self._unwritten
        self.last_number = max(self.last_number, newest, *self._unwritten)
        if salvaged:
            self._write()
        return database

    def _move_aside(self, reason: str) -> list[Revision]:
        try:
            aside, records, pins = history_file.move_aside(self._path)
        except OSError as error:
            raise sqlite3.OperationalError(f"{reason}, and it cannot be moved aside: {error.strerror}") from error
        salvaged = _decoded(records, Revision)
        if not self._pin_unwritten:
            self.pin = next(iter(_decoded(pins, Pin)), self.pin)
            self._pin_unwritten = self.pin is not None
        kept = f"{len(salvaged)} of its revisions were saved" if salvaged else "nothing of it could be read"
        self._damage = " ".join(reason.split())
        self._renewed = f"the history was damaged ({self._damage}) and is now {aside.name}; {kept}"
        return salvaged


def _decoded(records: Iterable[bytes], kind: type[Record]) -> list[Record]:
    """Those that are whole."""
    found = []
    for record in records:
        with contextlib.suppress(msgspec.DecodeError):
            found.append(msgspec.json.decode(record, type=kind))
    return found
