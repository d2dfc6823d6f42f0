"""Findings -> edits: what a dialect refuses becomes a decision, with the reason, and the rest is still done."""

from collections.abc import Sequence
from dataclasses import replace

from appliance.migrations.canonical import Deployment, Edit
from appliance.migrations.change import Change, Part
from appliance.migrations.dialects import Dialect
from appliance.migrations.operations import CannotEditError, Comment

ONLY_READ = "this kind of file is only read; change it by hand"


def carry_out(
    dialect: Dialect, text: str, deployment: Deployment, changes: Sequence[Change]
) -> tuple[list[Edit], list[Change]]:
    """The edits, and the changes as they came out."""
    if not deployment.editable:
        return [], undone(changes, ONLY_READ)
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


def undone(changes: Sequence[Change], reason: str) -> list[Change]:
    """None of them is made."""
    return [_left(change, reason) if change.part in (Part.CHANGED, Part.DECISION) else change for change in changes]


def _without(change: Change, refusal: CannotEditError, others: Sequence[Change]) -> Change:
    """All operations of a change or none; a remark alone can fall."""
    mine = any(operation is refusal.operation for operation in change.operations)
    if mine and isinstance(refusal.operation, Comment):
        return replace(change, operations=tuple(op for op in change.operations if op is not refusal.operation))
    owner = next((o for o in others if any(op is refusal.operation for op in o.operations)), None)
    together = owner is not None and not change.operations and change.site is not None and change.site is owner.site
    real = owner is not None and not isinstance(refusal.operation, Comment)
    return _left(change, refusal.reason) if mine or (together and real and change.part is Part.CHANGED) else change


def _left(change: Change, reason: str) -> Change:
    if change.part is Part.CHANGED or change.operations:
        message = f"{change.message} (left as it is: {reason})"
        return replace(change, part=Part.DECISION, message=message, operations=())
    return change
