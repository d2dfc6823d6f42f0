"""What an appliance says of itself when it is asked. The supervisor fills it from its own state at that moment."""

from typing import Any, Literal

import msgspec

from appliance.server.config import Sync
from appliance.supervise.history_records import HistoryHealth, Pin, Revision

ApplianceState = Literal["starting", "ready", "degraded", "draining", "stopped"]
"""degraded: it serves, and something is not as the operator wants it; `reasons` say what."""


class FieldChange(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    before: Any = None
    after: Any = None
    reload: str = ""
    """live | reconfigure (running engines take it between two steps) | engine (new processes) | listener"""
    why: str = ""


class ProcessStatus(msgspec.Struct, frozen=True, kw_only=True):
    role: str
    """server, engine"""
    state: str
    pid: int | None = None
    generation: int | None = None
    memory_bytes: int | None = None
    """Resident."""
    restarts: int = 0


class FileStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The text that the operator keeps, compared with the one that runs, when the question came."""

    path: str
    state: Literal["synced", "changed", "pinned", "invalid", "missing"]
    """synced: the same effective plan. changed: another one. pinned: changed, and not tried because of a rollback."""
    hash: str = ""
    drift: tuple[FieldChange, ...] = ()
    """From what runs (before) to what the text says (after)."""
    error: str = ""


class GitStatus(msgspec.Struct, frozen=True, kw_only=True):
    state: Sync
    repo: str
    """Without credentials."""
    ref: str
    path: str
    commit: str = ""
    """The one seen last; author and subject are its own."""
    author: str = ""
    subject: str = ""
    running: str = ""
    """The commit whose text runs; empty where that came from elsewhere."""
    checked: float | None = None
    """Seconds since the epoch."""
    error: str = ""


class ApplianceStatus(msgspec.Struct, frozen=True, kw_only=True):
    """`appliance status --format json`. Times in seconds since the epoch, durations in seconds."""

    schema: Literal[1] = 1
    name: str
    state: ApplianceState
    reasons: tuple[str, ...] = ()
    """Why it is not simply ready, one sentence each."""
    version: str = ""
    """Of the appliance."""
    release: str = ""
    backend: str = ""
    url: str | None = None
    model: str = ""
    pid: int | None = None
    state_folder: str = ""
    generation: int | None = None
    revision: int | None = None
    """The one that runs."""
    hash: str = ""
    """Of its text."""
    plan: str = ""
    """Hash of its plan."""
    since: float | None = None
    """When the revision that runs was taken up."""
    uptime: float | None = None
    """Since `appliance up`, by the monotonic clock."""
    processes: tuple[ProcessStatus, ...] = ()
    reloading: str = ""
    """Source and phase of a reload that runs now."""
    waiting: int = 0
    """Proposals behind it."""
    last_reload: Revision | None = None
    """The newest revision with an outcome, without text and diff."""
    file: FileStatus | None = None
    gitops: GitStatus | None = None
    pin: Pin | None = None
    history: HistoryHealth = HistoryHealth()

    @property
    def exit_code(self) -> int:
        """Of `status --exit-code`: 0 ready and in sync, 1 anything else that runs, 2 not running."""
        if self.state == "stopped":
            return 2
        in_sync = (self.file is None or self.file.state == "synced") and (
            self.gitops is None or self.gitops.state == "Synced"
        )
        return 0 if self.state == "ready" and in_sync else 1
