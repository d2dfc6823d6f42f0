"""What an outcome means for metrics and history."""

import dataclasses
import time

from appliance.diagnostics import Severity
from appliance.server.config import ReloadFacts, Sync
from appliance.supervise.proposal import Outcome, Proposal


def facts_after(before: ReloadFacts, proposal: Proposal, outcome: Outcome, left: bool) -> ReloadFacts:
    """`left` = what runs now is not what is wanted."""
    if outcome.good:
        sync: Sync = "OutOfSync" if left else "Synced"
        if proposal.source == "secret":
            sync = before.sync
        return ReloadFacts(True, time.time(), sync, before.git)
    sync = "Invalid" if outcome.result == "invalid" else "Degraded"
    return dataclasses.replace(before, last_successful=False, sync=sync)


def error_text(outcome: Outcome) -> str | None:
    errors = [str(found) for found in outcome.diagnostics if found.severity is Severity.ERROR]
    gone = "a newer state was proposed before this one served" if outcome.result == "superseded" else None
    return "\n".join(errors) or gone
