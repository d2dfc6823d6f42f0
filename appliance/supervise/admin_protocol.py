"""What commands ask a running appliance, and its answers: one JSON object per line on `admin.sock`.

A connection carries one request at a time. Zero or more lines of Progress and Doing come before the answer.
"""

import msgspec

from appliance.diagnostics import Diagnostic
from appliance.supervise.history_records import Phase, Revision
from appliance.supervise.proposal import Outcome
from appliance.supervise.status import ApplianceStatus, FieldChange

SOCKET = "admin.sock"
LINE_BYTES = 1 << 24


class Status(msgspec.Struct, frozen=True, tag="status"):
    pass


class Reload(msgspec.Struct, frozen=True, tag="reload", kw_only=True):
    """Try what the profile's file holds now. Without `wait`: answered with Queued at once."""

    wait: bool = True
    note: str = ""


class Rollback(msgspec.Struct, frozen=True, tag="rollback", kw_only=True):
    """None = the last applied one before the running one that has another text."""

    revision: int | None = None
    note: str = ""


class History(msgspec.Struct, frozen=True, tag="history", kw_only=True):
    limit: int = 20


class Show(msgspec.Struct, frozen=True, tag="show", kw_only=True):
    revision: int


class Diff(msgspec.Struct, frozen=True, tag="diff", kw_only=True):
    """Each side: the number of a revision, `running` or `file`."""

    a: str = "running"
    b: str = "file"


class PlanAgainst(msgspec.Struct, frozen=True, tag="plan", kw_only=True):
    """What would happen if `text` were proposed; `file` names it and is where its relative paths start."""

    text: str
    file: str


Request = Status | Reload | Rollback | History | Show | Diff | PlanAgainst


class Text(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    text: str


class StatusAnswer(msgspec.Struct, frozen=True, tag="status", kw_only=True):
    status: ApplianceStatus


class Progress(msgspec.Struct, frozen=True, tag="progress", kw_only=True):
    phase: Phase


class Doing(msgspec.Struct, frozen=True, tag="doing", kw_only=True):
    """What takes longer than a moment just now; Progress follows when it has ended."""

    text: str


class Queued(msgspec.Struct, frozen=True, tag="queued"):
    pass


class Tried(msgspec.Struct, frozen=True, tag="tried", kw_only=True):
    outcome: Outcome


class Listed(msgspec.Struct, frozen=True, tag="listed", kw_only=True):
    """Newest first, without texts and diffs."""

    revisions: tuple[Revision, ...]
    running: int | None = None


class Shown(msgspec.Struct, frozen=True, tag="shown", kw_only=True):
    revision: Revision


class Texts(msgspec.Struct, frozen=True, tag="texts", kw_only=True):
    a: Text
    b: Text


class Planned(msgspec.Struct, frozen=True, tag="planned", kw_only=True):
    """`action` as in Outcome."""

    action: str
    changes: tuple[FieldChange, ...] = ()
    reasons: tuple[str, ...] = ()
    findings: tuple[Diagnostic, ...] = ()
    """Warnings."""
    revision: int | None = None
    """The one that runs."""


class Failure(msgspec.Struct, frozen=True, tag="failure", kw_only=True):
    """An ApplianceError of the other side."""

    diagnostics: tuple[Diagnostic, ...]
    exit_code: int = 2
    notes: tuple[str, ...] = ()


Answer = StatusAnswer | Progress | Doing | Queued | Tried | Listed | Shown | Texts | Planned | Failure

REQUESTS = msgspec.json.Decoder(Request)
ANSWERS: msgspec.json.Decoder[Answer] = msgspec.json.Decoder(Answer)
ENCODER = msgspec.json.Encoder()
