"""How reloads are put into words."""

from appliance.supervise.proposal import Outcome, Proposal

SOURCES = {
    "boot": "the profile at start",
    "file": "the profile was saved",
    "sighup": "SIGHUP",
    "admin": "appliance reload",
    "git": "a commit",
    "rollback": "a rollback",
    "secret": "a secret's file has new content",
}
RESULTS = {
    "applied": "applied",
    "unchanged": "the effective plan is unchanged",
    "invalid": "the text is not valid, what ran runs on",
    "rejected": "it cannot be here, what ran runs on",
    "failed": "it failed and was undone, what ran runs on",
    "superseded": "left for a newer state",
    "interrupted": "interrupted",
}


def asked(proposal: Proposal) -> str:
    who = f" by {proposal.actor}" if proposal.actor else ""
    commit = f" {proposal.commit.id[:12]} {proposal.commit.subject}".rstrip() if proposal.commit else ""
    if proposal.source in ("file", "secret") and proposal.note:
        return proposal.note
    note = f" ({proposal.note})" if proposal.note else ""
    return f"{SOURCES[proposal.source]}{who}{commit}{note}"


def sentence(outcome: Outcome, seconds: float) -> str:
    which = f"revision {outcome.revision}: " if outcome.revision is not None else ""
    serving = f"; generation {outcome.generation} serves" if outcome.result in ("applied", "failed") else ""
    return f"{which}{RESULTS[outcome.result]}, {seconds:.2f} s{serving}"
