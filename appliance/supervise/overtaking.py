"""Does a text that came while another one boots make that one pointless?"""

from functools import partial

from appliance.diagnostics import ApplianceError
from appliance.plan import diff_plans
from appliance.supervise.backends import engine_change
from appliance.supervise.detached import detached
from appliance.supervise.history_records import text_hash
from appliance.supervise.inbox import Inbox, Ticket
from appliance.supervise.judge import Judged, new_contents
from appliance.supervise.parts import Parts
from appliance.supervise.pinning import away_from
from appliance.supervise.proposal import Proposal
from appliance.supervise.road import Road


async def newer(inbox: Inbox, parts: Parts, tried: Judged) -> None:
    """Returns when one waits that wants another state than `tried` makes; where that needs new engines, other engines.

    What is not valid overtakes nothing, and a live edit on top of engines that boot can wait for them.
    """
    looked: Ticket | None = None
    while True:
        inbox.news.clear()
        ticket = inbox.newest
        if ticket is not None and ticket is not looked:
            looked = ticket
            away = away_from(parts, ticket.proposal)
            if await detached(partial(_differs, parts.road, ticket.proposal, away, tried)):
                return
            continue
        await inbox.news.wait()


def _differs(road: Road, proposal: Proposal, away: str, tried: Judged) -> bool:
    candidate = tried.candidate
    try:
        checked = road.check(proposal.text, proposal.name, proposal.base)
        if text_hash(checked.document.text) == away:
            return False
        wanted = road.plan(checked, download=False)
    except ApplianceError:
        return False
    engines = engine_change(candidate.plan, wanted.plan)
    if engines.replace or engines.settings:
        return True
    if tried.decision.action in ("surge", "drain"):
        return False
    return bool(diff_plans(candidate.plan, wanted.plan) or new_contents(candidate, wanted))
