"""What history knows of one tried state, as plain records: in the database, on the admin channel, in JSON output."""

import hashlib
from typing import Literal

import msgspec

Ending = Literal["applied", "unchanged", "invalid", "rejected", "failed", "superseded", "interrupted"]
"""rejected = it did not fit; failed = it did not boot or prove itself and was rolled back; superseded = a newer text
came before its turn; interrupted = the supervisor died meanwhile."""
Proof = dict[str, str | float | int | bool]


def text_hash(text: str) -> str:
    """Sixteen hexadecimal digits that stand for a profile's text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class Phase(msgspec.Struct, frozen=True):
    """One step on the road of a revision: validate, plan, boot, proof ..."""

    name: str
    seconds: float
    detail: str = ""


class Commit(msgspec.Struct, frozen=True, kw_only=True):
    """Where a text from git came from."""

    id: str
    author: str = ""
    subject: str = ""


class Revision(msgspec.Struct, frozen=True, kw_only=True):
    """One text that was tried. Numbers only grow, so they are the order of events; wall clocks may jump."""

    number: int
    text: str
    hash: str
    source: str
    """boot, file, sighup, admin, git, rollback, secret"""
    actor: str = ""
    note: str = ""
    at: float = 0.0
    """Seconds since the epoch by the wall clock; only to be shown."""
    base: int | None = None
    """The revision that ran when this one was tried."""
    base_hash: str = ""
    diff: str = ""
    """Unified, from the text that ran."""
    changes: tuple[str, ...] = ()
    """Of the plan, field by field."""
    commit: Commit | None = None
    phases: tuple[Phase, ...] = ()
    action: str = ""
    """How it was taken up: live, reconfigure, surge, drain ..."""
    outcome: Ending | None = None
    """None while it is being tried."""
    generation: int | None = None
    plan: str = ""
    """Hash of its plan."""
    proof: Proof = {}
    error: str | None = None
    seconds: float | None = None
    """From its beginning to its outcome, by the monotonic clock."""


class Pin(msgspec.Struct, frozen=True, kw_only=True):
    """A rollback holds `revision`; the text with hash `away` is not tried again until the file changes."""

    revision: int
    away: str
    origin: int | None = None
    """The revision that it went back to: the next rollback goes on from there."""


Health = Literal["fine", "unwritable", "renewed", "damaged"]


class HistoryHealth(msgspec.Struct, frozen=True, kw_only=True):
    """unwritable: the last write failed and waits in memory. renewed: a damaged database was moved aside.

    damaged: parts are missing. `detail` says more.
    """

    state: Health = "fine"
    revisions: int = 0
    unwritten: int = 0
    detail: str = ""
    damage: str = ""
    """What was wrong with a database that was moved aside."""
