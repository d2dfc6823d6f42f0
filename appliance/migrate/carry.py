"""Findings -> edits: what a dialect refuses becomes a decision, with the reason, and the rest is still done."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from appliance.migrations.canonical import Deployment, Edit, Span
from appliance.migrations.change import Change, Part
from appliance.migrations.dialects import Dialect
from appliance.migrations.operations import Add, CannotEditError, Comment, Operation, Remove, Rewrite

SHARED = "another deployment of this file needs it as it stands; change it by hand"


def carry_out(
    dialect: Dialect, text: str, deployment: Deployment, changes: Sequence[Change]
) -> tuple[list[Edit], list[Change]]:
    """The edits, and the changes as they came out."""
    if not deployment.editable:
        return [], undone(changes)
    kept = list(changes)
    while operations := [operation for change in kept for operation in change.operations]:
        try:
            return dialect.edit(text, deployment, operations), kept
        except CannotEditError as refusal:
            left = [_without(change, refusal, kept) for change in kept]
            if left == kept:
                return [], undone(kept, refusal.reason)
            kept = left
    return [], kept


def carry_out_all(
    dialect: Dialect, text: str, deployments: Sequence[Deployment], planned: Sequence[list[Change]]
) -> list[tuple[list[Edit], list[Change]]]:
    """What several deployments share goes only when every one of them can do without it."""
    done = [carry_out(dialect, text, *pair) for pair in zip(deployments, planned, strict=True)]
    while needed := {span for pair in zip(planned, done, strict=True) for span in _kept(pair[0], pair[1][1])}:
        before = done
        done = [
            carry_out(dialect, text, deployment, left)
            if (left := [_left(change, SHARED) if _takes(change, needed) else change for change in changes]) != changes
            else (edits, changes)
            for deployment, (edits, changes) in zip(deployments, done, strict=True)
        ]
        if all(new is old for (_, new), (_, old) in zip(done, before, strict=True)):
            break
    return done


def _kept(planned: Sequence[Change], done: Sequence[Change]) -> Iterator[Span]:
    """Where the sites stand that should have gone and did not."""
    for wished, made in zip(planned, done, strict=True):
        if not _real(made.operations):
            yield from (operation.site.name_span for operation in _real(wished.operations))


def _takes(change: Change, needed: set[Span]) -> bool:
    return any(operation.site.name_span in needed for operation in _real(change.operations))


def _real(operations: Iterable[Operation]) -> list[Remove | Rewrite]:
    """What takes something away from where it stands."""
    return [operation for operation in operations if isinstance(operation, Remove | Rewrite)]


def undone(changes: Sequence[Change], reason: str = "") -> list[Change]:
    """None of them is made. reason: empty where it is said about the file as a whole."""
    return [_left(change, reason) if change.part in (Part.CHANGED, Part.DECISION) else change for change in changes]


def _without(change: Change, refusal: CannotEditError, others: Sequence[Change]) -> Change:
    """All operations of a change or none; a remark alone can fall."""
    mine = any(operation is refusal.operation for operation in change.operations)
    if mine and isinstance(refusal.operation, Comment):
        return replace(change, operations=tuple(op for op in change.operations if op is not refusal.operation))
    owner = next((o for o in others if any(op is refusal.operation for op in o.operations)), None)
    sites = {id(operation.site) for operation in _real(owner.operations)} if owner is not None else set()
    together = not change.operations and id(change.site) in sites
    real = owner is not None and not isinstance(refusal.operation, Comment)
    return _left(change, refusal.reason) if mine or (together and real and change.part is Part.CHANGED) else change


def _left(change: Change, reason: str) -> Change:
    if change.part is Part.CHANGED or change.operations:
        message = f"{change.message} (left as it is: {reason})" if reason else change.message
        way_out = change.way_out or (change.rule.way_out if change.rule else "")
        return replace(change, part=Part.DECISION, message=message, way_out=way_out, operations=())
    return change


def here(change: Change) -> Change:
    """The change without what would have to be done in another file, which it then names."""
    site = change.site
    if site is None or not site.source:
        return change
    left = tuple(operation for operation in change.operations if isinstance(operation, Add))
    message = f"{change.message} (it stands in {site.source})"
    if left or change.part is not Part.CHANGED:
        return replace(change, message=message, operations=left)
    file = site.source.rpartition(":")[0] or site.source
    return replace(
        change, part=Part.DECISION, message=message, way_out=f"run `appliance migrate {file}`", operations=()
    )
