"""What a rollback leaves behind: a text that is not tried again just because it still stands in the file."""

from appliance.diagnostics import Diagnostic, Position
from appliance.supervise import findings
from appliance.supervise.admin_protocol import Text
from appliance.supervise.detached import detached
from appliance.supervise.history_records import text_hash
from appliance.supervise.parts import Parts
from appliance.supervise.proposal import Outcome, Proposal
from appliance.supervise.status_file import file_status
from appliance.supervise.transition import Running


def away_from(parts: Parts, proposal: Proposal) -> str:
    """Hash of the text that a save may not bring back; whoever asks for it by name gets it tried."""
    pin = parts.history.pinned
    return pin.away if proposal.source == "file" and pin is not None else ""


def rolled_back_from(parts: Parts, proposal: Proposal, text: str, running: int) -> Diagnostic | None:
    """Told, where a save brought that text back."""
    if away_from(parts, proposal) != text_hash(text):
        return None
    found = findings.pinned(Position(str(parts.road.file)), running)
    parts.report.note(str(found), "warning")
    return found


async def leaves(parts: Parts, running: Running, kept: str | None) -> bool:
    """Does what runs after a rollback differ from what the file, or the `kept` text of a repository, wants?"""
    wanted = Text(name="", text=kept) if kept is not None else None
    above = parts.front.overridden
    found = await detached(lambda: file_status(parts.road, running.candidate, None, wanted, above))
    return found.state != "synced"


def end_pin(parts: Parts, proposal: Proposal, text: str, outcome: Outcome) -> None:
    """What ends a rollback: another text in the file, the same one asked for by name and good, or a good commit."""
    pin = parts.history.pinned
    if pin is None or proposal.source not in ("file", "sighup", "admin", "git"):
        return
    if outcome.good or (proposal.source != "git" and pin.away != text_hash(text)):
        with parts.history_kept():
            parts.history.unpin()
