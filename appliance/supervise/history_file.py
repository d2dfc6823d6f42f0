"""The SQLite file of a history: made, upgraded, and when it is damaged, moved aside for a new one."""

import contextlib
import itertools
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from appliance.diagnostics import Position
from appliance.supervise.errors import cannot_run

VERSION = 1
"""PRAGMA user_version. A later release adds its step to UPGRADES and never changes one."""
UPGRADES: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE revision (number INTEGER PRIMARY KEY, outcome TEXT, hash TEXT NOT NULL, record BLOB NOT NULL)",
        "CREATE INDEX revision_outcome ON revision (outcome, number)",
        "CREATE TABLE pin (one INTEGER PRIMARY KEY CHECK (one = 1), record BLOB NOT NULL)",
    ),
)
PARTS = ("-wal", "-shm", "-journal", "")
DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def is_damage(error: sqlite3.Error) -> bool:
    return (getattr(error, "sqlite_errorcode", 0) & 0xFF) in DAMAGE


def connect(path: Path) -> sqlite3.Connection:
    """Ours alone, upgraded, checked. sqlite3.Error when it is damaged (`is_damage`) or cannot be written.

    Exclusive locking keeps the index of the log in memory instead of in a file: it opens on a full disk too.
    """
    with contextlib.suppress(OSError):
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
    database = sqlite3.connect(path, isolation_level=None, timeout=1.0)
    try:
        database.execute("PRAGMA locking_mode = EXCLUSIVE")
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = FULL")
        database.execute("PRAGMA journal_size_limit = 1048576")
        found = database.execute("PRAGMA quick_check(1)").fetchone()[0]
        if found != "ok":
            raise _damaged(found)
        _upgrade(database, path)
    except BaseException:
        database.close()
        raise
    return database


def _upgrade(database: sqlite3.Connection, path: Path) -> None:
    version = database.execute("PRAGMA user_version").fetchone()[0]
    if version > VERSION:
        fact = f"the history {path} was written by a newer appliance (schema {version}, this one knows {VERSION})"
        raise cannot_run(Position(str(path)), "AP0901", fact, "run that appliance, or take another --state-dir")
    if version == VERSION:
        return
    database.execute("BEGIN IMMEDIATE")
    for step in UPGRADES[version:]:
        for statement in step:
            database.execute(statement)
    database.execute(f"PRAGMA user_version = {VERSION}")
    database.execute("COMMIT")


def _damaged(found: str) -> sqlite3.DatabaseError:
    error = sqlite3.DatabaseError(found)
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    return error


def move_aside(path: Path) -> tuple[Path, list[bytes], list[bytes]]:
    """(where the damaged file is now, the revisions and the pin that can still be read of it).

    OSError when it cannot be moved.
    """
    taken = (Path(f"{path}.damaged-{number}") for number in itertools.count(1))
    aside = next(place for place in taken if not place.exists())
    for part in PARTS:
        with contextlib.suppress(FileNotFoundError):
            Path(f"{path}{part}").rename(f"{aside}{part}")
    return aside, list(_salvage(aside, "revision ORDER BY number DESC")), list(_salvage(aside, "pin"))


def _salvage(path: Path, table: str) -> Iterator[bytes]:
    """Until the damage is met."""
    with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA locking_mode = EXCLUSIVE")
        for (record,) in database.execute(f"SELECT record FROM {table}"):
            yield record
