"""What a rollback leaves behind: a text that is not tried again just because it still stands in the file."""

from appliance.diagnostics import Diagnostic, Position
from appliance.supervise import findings
from appliance.supervise.history_records import text_hash
from appliance.supervise.parts import Parts
from appliance.supervise.proposal import Outcome, Proposal


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


def end_pin(parts: Parts, proposal: Proposal, text: str, outcome: Outcome) -> None:
    """Another text in the file, or the same one asked for by name and good, ends what a rollback began."""
    pin = parts.history.pinned
    if pin is None or proposal.source not in ("file", "sighup", "admin"):
        return
    if pin.away != text_hash(text) or outcome.good:
        with parts.history_kept():
            parts.history.unpin()
