"""The one queue of proposals. The newest wins: what it overtakes is not tried."""

import asyncio
from dataclasses import dataclass, field

from appliance.supervise.proposal import Outcome, Proposal


@dataclass(eq=False)
class Ticket:
    """One proposal on its way, and the promise of its outcome."""

    proposal: Proposal
    outcome: "asyncio.Future[Outcome]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    def settle(self, outcome: Outcome) -> None:
        if not self.outcome.done():
            self.outcome.set_result(outcome)


class Inbox:
    def __init__(self) -> None:
        self._waiting: list[Ticket] = []
        self._arrived = asyncio.Event()
        self.news = asyncio.Event()
        """Set with every arrival; for whoever looks at `newest` while something else is tried, and clears it."""

    def put(self, proposal: Proposal) -> Ticket:
        ticket = Ticket(proposal)
        self._waiting.append(ticket)
        self._arrived.set()
        self.news.set()
        return ticket

    def __len__(self) -> int:
        return len(self._waiting)

    def waits(self, proposal: Proposal) -> bool:
        """Is it not its turn yet?"""
        return any(ticket.proposal is proposal for ticket in self._waiting)

    @property
    def newest(self) -> Ticket | None:
        """The newest state that waits. Secrets are looked at with every state."""
        return next((ticket for ticket in reversed(self._waiting) if ticket.proposal.source != "secret"), None)

    @property
    def overtaken(self) -> bool:
        """Has a newer state come than what was taken last?"""
        return self.newest is not None

    async def take(self) -> tuple[Ticket, list[Ticket], list[Ticket]]:
        """(the newest, those that its outcome answers as well, those it overtakes), once there is one.

        It answers whoever wants the file as it is just then. Secrets are looked at with every state.
        """
        await self._arrived.wait()
        self._arrived.clear()
        waiting, self._waiting = self._waiting, []
        newest = next((ticket for ticket in reversed(waiting) if ticket.proposal.source != "secret"), waiting[-1])
        others = [ticket for ticket in waiting if ticket is not newest]
        same = [ticket for ticket in others if _answered(ticket.proposal, newest.proposal)]
        return newest, same, [ticket for ticket in others if ticket not in same]


def _answered(proposal: Proposal, newest: Proposal) -> bool:
    return proposal.source == "secret" or (proposal.text is None and newest.text is None)
