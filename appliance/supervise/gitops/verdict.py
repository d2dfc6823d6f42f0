"""What became of the commit seen last, and the part of it that outlives a restart."""

import contextlib
import hashlib
from pathlib import Path

import msgspec

from appliance.profile.gitops import GitOps
from appliance.server.config import Sync
from appliance.supervise.history_records import Commit
from appliance.supervise.proposal import Outcome


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    state: Sync
    tip: str
    """What the ref named; another look at the same one is needless."""
    seen: Commit | None = None
    error: str = ""


def judge(outcome: Outcome, tip: str, seen: Commit) -> Verdict:
    """One outcome of a proposal, as the state of the repository's text."""
    first = next((str(found) for found in outcome.diagnostics if found.severity == "error"), "")
    if outcome.good:
        return Verdict(state="Synced", tip=tip, seen=seen)
    if outcome.result == "invalid":
        return Verdict(state="Invalid", tip=tip, seen=seen, error=first or "the profile is not valid")
    if outcome.result in ("rejected", "failed"):
        words = "it does not fit here" if outcome.result == "rejected" else "it did not come up and was undone"
        return Verdict(state="Degraded", tip=tip, seen=seen, error=first or words)
    error = f"it was {outcome.result} before it could be tried"
    return Verdict(state="OutOfSync", tip="" if outcome.result == "interrupted" else tip, seen=seen, error=error)


class Memory:
    """A commit that failed is not tried again by the next process: it may be what ended this one."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def recall(self, settings: GitOps) -> Verdict | None:
        with contextlib.suppress(OSError, msgspec.DecodeError, msgspec.ValidationError):
            kept = msgspec.json.decode(self._file.read_bytes(), type=_Kept)
            return kept.verdict if kept.key == _key(settings) else None
        return None

    def keep(self, settings: GitOps, verdict: Verdict) -> None:
        """A full disk costs this one memory, nothing else."""
        with contextlib.suppress(OSError):
            if verdict.state != "Degraded":
                self._file.unlink(missing_ok=True)
                return
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            part = self._file.with_suffix(".part")
            part.write_bytes(msgspec.json.encode(_Kept(key=_key(settings), verdict=verdict)))
            part.replace(self._file)


class _Kept(msgspec.Struct, frozen=True, kw_only=True):
    key: str
    verdict: Verdict


def _key(settings: GitOps) -> str:
    return hashlib.sha256(repr((settings.repo, settings.ref, settings.path)).encode()).hexdigest()
