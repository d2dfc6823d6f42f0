"""One state somebody asks for, and what became of it. Everything that can change an appliance speaks this."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from appliance.diagnostics import Diagnostic
from appliance.plan.diff import Change
from appliance.supervise.history_records import Commit

Source = Literal["boot", "file", "sighup", "admin", "git", "rollback", "secret"]
Result = Literal["applied", "unchanged", "invalid", "rejected", "failed", "superseded", "interrupted"]
"""invalid = its text; rejected = does not fit here (memory, port, strategy); failed = boot or proof, undone."""
Action = Literal["none", "boot", "live", "reconfigure", "surge", "drain"]
"""What it took: nothing, a first boot, new settings of servers, of running engines, new engines beside or after."""


@dataclass(frozen=True)
class Proposal:
    source: Source
    text: str | None = None
    """None = what the profile's file holds when its turn comes: of several in a row only the newest is tried."""
    actor: str = ""
    """Who asked: a user's name, a commit's author."""
    note: str = ""
    """Why, in words."""
    commit: Commit | None = None
    base: Path | None = None
    """Folder that relative paths of the text start from; None = that of the profile's file."""
    name: str | None = None
    """What diagnostics call the text (`profiles/a.yaml at 1f2e3d4`); None = the profile's file."""


@dataclass(frozen=True)
class Outcome:
    """What its proposer is told. `revision` is its number in history, None where history could not be written."""

    result: Result
    revision: int | None
    generation: int
    """The one that serves now."""
    action: Action = "none"
    changes: tuple[Change, ...] = ()
    """Against the state that ran before, field by field."""
    reasons: tuple[str, ...] = ()
    """Why this action."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """Errors and warnings, with positions in the proposed text."""
    proof: tuple[tuple[str, str | float | int | bool], ...] = ()
    phases: tuple[tuple[str, float], ...] = ()
    """(name, seconds) in order."""

    @property
    def good(self) -> bool:
        """The appliance now runs what was proposed."""
        return self.result in ("applied", "unchanged")
