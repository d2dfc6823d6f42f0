"""What reloads find out, as diagnostics at the line of the proposed text that is to blame."""

from collections.abc import Iterable

from appliance.diagnostics import ApplianceError, Diagnostic, Position, Severity
from appliance.plan.diff import Change
from appliance.supervise.road import Checked


def no_room(checked: Checked, fact: str) -> Diagnostic:
    fix = "write auto or drain: requests then wait while the engine is replaced"
    return _error(checked, "AP0608", "reload.strategy", f"surge is wanted, but {fact}", fix)


def no_place(checked: Checked) -> Diagnostic:
    fact = "the state folder was removed under this appliance, and with it the ways to its processes"
    return _error(checked, "AP0603", "", fact, "what runs runs on; start it again when it may pause")


def rolled_back(checked: Checked, changes: Iterable[Change], cause: str, serving: int, settling: bool) -> Diagnostic:
    """At the first change that needed what failed."""
    changes = tuple(changes)
    blamed = next((change.path for change in changes if change.reload != "live"), changes[0].path if changes else "")
    when = "served, then failed" if settling else "did not come to serve"
    fact = f"the new state {when}: {cause}"
    code = "AP0610" if settling else "AP0609"
    return _error(
        checked,
        code,
        blamed,
        fact,
        f"generation {serving} serves as before; correct it, or `appliance reload` tries it again",
    )


def lost(position: Position, cause: str, back: str) -> Diagnostic:
    fact = f"the new state did not come to serve ({cause}), and the old one did not come back: {back}"
    return Diagnostic("AP0611", Severity.ERROR, position, "", fact, "read the lines above, then start again")


def defect(position: Position, error: BaseException) -> Diagnostic:
    """Nothing has been touched when it is met, or everything is as it was again."""
    fact = f"the appliance has a defect that this text brings out: {type(error).__name__}: {error}"
    fix = "what ran runs on; report it with the lines above"
    return Diagnostic("AP0614", Severity.ERROR, position, "", fact, fix)


def refusal(found: Diagnostic) -> ApplianceError:
    return ApplianceError([found], exit_code=2)


def fallback(position: Position, revision: int) -> Diagnostic:
    fact = f"the file's text cannot run; revision {revision}, the last good one, is booted instead"
    return Diagnostic(
        "AP0612", Severity.ERROR, position, "", fact, "correct the file; `appliance diff` shows what differs"
    )


def pinned(position: Position, revision: int) -> Diagnostic:
    fact = f"the file holds the text that was rolled back from; revision {revision} stays"
    return Diagnostic(
        "AP0613", Severity.WARNING, position, "", fact, "change the file, or `appliance reload` to try it again"
    )


def _error(checked: Checked, code: str, path: str, fact: str, fix: str) -> Diagnostic:
    at = path if checked.document.node(path) is not None or "." in path else ""
    return Diagnostic(code, Severity.ERROR, checked.position(at), path, fact, fix)
