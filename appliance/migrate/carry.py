"""Findings -> edits: what a dialect refuses becomes a decision, with the reason, and the rest is still done."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from appliance.migrations.argv import write_words
from appliance.migrations.canonical import UNKNOWN, Deployment, Edit, Kind, Path, Span
from appliance.migrations.change import Change, Part
from appliance.migrations.dialects import Dialect
from appliance.migrations.operations import (
    Add,
    CannotEditError,
    Comment,
    Keep,
    NewValue,
    Operation,
    Raw,
    Remove,
    Rewrite,
)
from appliance.migrations.values import SECRETS

# refusals after which every change is tried by itself
_PATIENCE = 16
SHARED = "another deployment of this file needs it as it stands; change it by hand"


def carry_out(
    dialect: Dialect, text: str, deployment: Deployment, changes: Sequence[Change]
) -> tuple[list[Edit], list[Change]]:
    """The edits, and the changes as they came out."""
    if not deployment.editable:
        return [], undone(changes)
    kept = list(changes)
    refusals = 0
    while operations := [operation for change in kept for operation in change.operations]:
        try:
            return dialect.edit(text, deployment, operations), kept
        except CannotEditError as refusal:
            refusals += 1
            left = _without(kept, refusal) if refusals != _PATIENCE else _alone(dialect, text, deployment, kept)
            if left == kept and refusals != _PATIENCE:
                return [], undone(kept, refusal.reason)
            kept = left
    return [], kept


def _alone(dialect: Dialect, text: str, deployment: Deployment, changes: Sequence[Change]) -> list[Change]:
    """After many refusals: every change is tried by itself, so that not each of them costs a try of all."""
    kept = list(changes)
    for change in changes:
        if change.operations:
            try:
                dialect.edit(text, deployment, change.operations)
            except CannotEditError as refusal:
                kept = _without(kept, refusal)
    return kept


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


def _without(changes: Sequence[Change], refusal: CannotEditError) -> list[Change]:
    """All operations of a change or none; a remark alone can fall."""
    refused = refusal.operation
    owner = next((change for change in changes if any(op is refused for op in change.operations)), None)
    if owner is None:
        return list(changes)
    if isinstance(refused, Comment):
        fallen = replace(owner, operations=tuple(op for op in owner.operations if op is not refused))
        return [fallen if change is owner else change for change in changes]
    sites = {id(operation.site) for operation in _real(owner.operations)}
    return [
        _left(change, refusal.reason)
        if change is owner or (change.part is Part.CHANGED and not change.operations and id(change.site) in sites)
        else change
        for change in changes
    ]


def _left(change: Change, reason: str) -> Change:
    if change.part is Part.CHANGED or change.operations:
        message = f"{change.message} (left as it is: {reason})" if reason else change.message
        way_out = _spelled(change) or change.way_out or (change.rule.way_out if change.rule else "")
        return replace(change, part=Part.DECISION, message=message, way_out=way_out, operations=())
    return change


def _spelled(change: Change) -> str:
    """What a person has to write, to the letter, where the rule has nothing better to say; empty where that is no text
    of a command line."""
    if change.rule is None or change.rule.advice:
        return ""
    words: list[str] = []
    for operation in change.operations:
        match operation:
            case Rewrite(site=site, path=(), name=name, name_path=path, value=value) if site.kind is Kind.OPTION:
                keeps = isinstance(name, Keep)
                new = Raw(site.raw_value or "") if site.value is UNKNOWN else site.value
                new = new if isinstance(value, Keep) else value
                words += _words(site.name if isinstance(name, Keep) else name, site.path if keeps else path, new)
            case Add(name=name, path=path, value=value, kind=Kind.OPTION):
                words += _words(name, path, value)
            case Remove() | Comment():
                continue
            case _:
                return ""
    return f"write {' '.join(words)}" if words else ""


def _words(name: str, path: Path, value: NewValue) -> list[str]:
    if name in SECRETS:
        return ["--" + ".".join((name, *path))]
    if isinstance(value, Raw):
        return [f"--{'.'.join((name, *path))}", value.text]
    return [shlex.quote(word) for word in write_words(name, value, path)]


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
