"""How the repository's text and what runs stand to each other, as the agent knows it at this moment."""

from dataclasses import dataclass, field

from msgspec.structs import replace

from appliance.profile.gitops import GitOps
from appliance.supervise.history_records import Commit
from appliance.supervise.status import GitStatus

from .verdict import Verdict

FRESH = Verdict(state="OutOfSync", tip="", error="not looked at yet")


@dataclass
class Standing:
    verdict: Verdict = field(default=FRESH)
    running: str = ""
    """The commit whose text runs; empty where it came from elsewhere."""
    text: str | None = None
    """Of the commit that was tried last."""
    elsewhere: bool = False
    """What runs came from elsewhere, so that a commit with the text of the one before is worth a try."""
    trouble: str = ""
    """Why the last look had no answer."""
    checked: float | None = None

    def settle(self, verdict: Verdict, text: str) -> None:
        self.verdict, self.text = verdict, text
        if verdict.state == "Synced" and verdict.seen:
            self.running, self.elsewhere = verdict.seen.id, False

    def untouched(self, tip: str, seen: Commit) -> None:
        """A new commit with the text that was tried already: what became of that holds."""
        self.settle(replace(self.verdict, tip=tip, seen=seen), self.text or "")

    def diverge(self, why: str) -> None:
        error = f"what runs came from {why}; the next commit is applied again"
        self.verdict = replace(self.verdict, state="OutOfSync", error=error)
        self.running, self.elsewhere = "", True

    def again(self) -> None:
        """The next look tries what it finds, even if that was tried before."""
        self.verdict, self.elsewhere = replace(self.verdict, tip=""), True

    def status(self, settings: GitOps) -> GitStatus:
        seen = self.verdict.seen or Commit(id="")
        return GitStatus(
            state="Degraded" if self.trouble else self.verdict.state,
            repo=settings.repo,
            ref=settings.ref,
            path=settings.path,
            commit=seen.id,
            author=seen.author,
            subject=seen.subject,
            running=self.running,
            checked=self.checked,
            error=self.trouble or self.verdict.error,
        )
