"""The agent that follows a git repository, as a part of the supervisor."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from appliance.profile import Profile
from appliance.supervise.gitops.agent import Agent
from appliance.supervise.proposal import Outcome, Proposal, Source
from appliance.supervise.report import Report
from appliance.supervise.status import GitStatus

ELSEWHERE: dict[Source, str] = {
    "boot": "the local profile",
    "file": "an edit of the local profile",
    "sighup": "the local profile",
    "admin": "the local profile",
    "rollback": "a rollback",
}


class Following:
    """Tells the agent which state runs, and where that came from; `changed` is called when its status may be new."""

    def __init__(
        self,
        folder: Path,
        propose: Callable[[Proposal], Awaitable[Outcome]],
        report: Report,
        changed: Callable[[], None],
    ) -> None:
        self._running = ""
        self._agent = Agent(folder / "gitops", propose, report.note, changed)

    @property
    def status(self) -> GitStatus | None:
        return self._agent.status

    @property
    def text(self) -> str | None:
        return self._agent.text

    async def run(self) -> None:
        """Until cancelled."""
        await self._agent.run()

    def follow(self, profile: Profile, text: str) -> None:
        """The profile that runs now decides what is followed."""
        self._running = text
        self._agent.configure(profile.gitops)

    def again(self, proposal: Proposal) -> Proposal:
        """SIGHUP and `appliance reload` ask for what is followed, not for the local file."""
        return self._agent.again(proposal, self._running)

    def ended(self, proposal: Proposal, outcome: Outcome) -> None:
        if proposal.commit is not None and proposal.source != "git":
            self._agent.tried(proposal, outcome)
        elif outcome.result == "applied" and proposal.source in ELSEWHERE:
            self._agent.diverged(ELSEWHERE[proposal.source])
