"""Answers that come from history alone: by the supervisor, or by a command that reads the folder of a stopped one."""

from msgspec.structs import replace

from appliance.diagnostics import ApplianceError, Position
from appliance.supervise.admin_protocol import Listed, Shown, Text
from appliance.supervise.errors import cannot_run
from appliance.supervise.history import History
from appliance.supervise.history_records import Revision


def listed(history: History, running: Revision | None, limit: int) -> Listed:
    return Listed(
        revisions=tuple(without_texts(found) for found in history.list(limit)),
        running=running.number if running else None,
    )


def without_texts(revision: Revision) -> Revision:
    return replace(revision, text="", diff="")


def shown(history: History, number: int) -> Shown:
    """ApplianceError AP0904."""
    found = history.get(number)
    if found is None:
        raise _no_such(history, str(number))
    return Shown(revision=found)


def named_text(history: History, running: Revision | None, name: str, what: str = "running") -> Text:
    """`running` (in words: `what`), or the number of a revision. ApplianceError AP0904."""
    if name == "running":
        if running is None:
            raise cannot_run(Position("running"), "AP0904", "no revision was ever applied", "name two files or numbers")
        return Text(name=f"{what} (revision {running.number})", text=running.text)
    if not name.isdecimal():
        raise _no_such(history, name)
    return Text(name=f"revision {int(name)}", text=shown(history, int(name)).revision.text)


def tried(history: History, running: Revision | None) -> Revision | None:
    """What is about to take the place of `running`, whether it serves already or not."""
    if running is None:
        return None
    newer = (one for one in history.unfinished() if one.number > running.number and one.hash != running.hash)
    return next(newer, None)


def rollback_target(history: History, running: Revision | None, number: int | None) -> Revision:
    """Where no `number` is named: back from what is being tried, else from what runs; after a rollback further back,
    past the text that it left. ApplianceError AP0904 for an unknown number, AP0907 when there is nothing before."""
    if number is not None:
        return shown(history, number).revision
    if running is not None and tried(history, running) is not None:
        return running
    pin = history.pinned
    before = pin.origin if running and pin and pin.revision == running.number and pin.origin else None
    if running is None:
        found = history.last_good()
    else:
        left = pin.away if before and pin else ""
        found = history.last_good(before or running.number, (running.hash, left))
    if found is None:
        now = f" before revision {running.number}, which runs" if running else ""
        fact = f"no other state was applied{now}"
        raise cannot_run(Position("rollback"), "AP0907", fact, "appliance history lists what was tried")
    return found


def _no_such(history: History, name: str) -> ApplianceError:
    newest = history.list(1)
    known = f"the newest one is {newest[0].number}" if newest else "the history is empty"
    fact = f'"{name}" is not a revision: {known}' if not name.isdecimal() else f"there is no revision {name}: {known}"
    return cannot_run(Position("history"), "AP0904", fact, "appliance history lists the numbers")
