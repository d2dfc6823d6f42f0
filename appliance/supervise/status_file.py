"""The text an operator keeps, held against the one that runs, at the moment of the question."""

from msgspec.structs import replace

from appliance.diagnostics import ApplianceError, Diagnostic, Severity
from appliance.supervise.admin_protocol import Text
from appliance.supervise.comparison import field_changes
from appliance.supervise.history_records import Pin, text_hash
from appliance.supervise.judge import new_contents
from appliance.supervise.road import Candidate, InvalidText, Road
from appliance.supervise.status import FieldChange, FileStatus


def file_status(
    road: Road, running: Candidate, pin: Pin | None, kept: Text | None = None, above: frozenset[str] = frozenset()
) -> FileStatus:
    """Reads, validates and plans, and never fetches a model: for a thread of its own. `kept` = the text of a git
    commit that stands in for the file, `above` = the fields that the command line decides: no edit of one is drift."""
    told = FileStatus(path=kept.name if kept else str(road.file), state="synced")
    try:
        checked = road.check(kept.text if kept else None, told.path)
        told = replace(told, hash=text_hash(checked.document.text))
        found = differences(running, road.plan(checked, download=False))
        drift = tuple(change for change in found if change.path not in above)
    except InvalidText as error:
        state = "missing" if error.exit_code == 2 and not error.text else "invalid"
        return replace(told, state=state, hash=text_hash(error.text) if error.text else "", error=_first(error))
    except ApplianceError as error:
        return replace(told, state="changed", error=_first(error))
    if not drift:
        return told
    return replace(told, state="pinned" if pin and pin.away == told.hash else "changed", drift=drift)


def differences(running: Candidate, wanted: Candidate) -> tuple[FieldChange, ...]:
    """Of the plans, and of files that keep their names while their content changes."""
    contents = tuple(
        FieldChange(
            path=path, before="(as read)", after="(changed)", reload="live", why="the file holds something else"
        )
        for path in new_contents(running, wanted)
    )
    return (*field_changes(running.plan, wanted.plan), *contents)


def _first(error: ApplianceError) -> str:
    errors = [found for found in error.diagnostics if found.severity is Severity.ERROR] or error.diagnostics
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return f"{_told(errors[0])}{more}" if errors else str(error)


def _told(found: Diagnostic) -> str:
    """Without the file's name, which stands beside it."""
    return str(found).replace(f"{found.position.file}:", "", 1)
