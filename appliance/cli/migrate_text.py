"""One migrated file for people: its four parts, wrapped to the terminal."""

import shutil
import sys
import textwrap

import typer

from appliance.diagnostics import Diagnostic, Severity
from appliance.migrations.change import Change, Part
from appliance.migrations.release import Release
from appliance.migrations.rule import Nature

from ..migrate import Finding, Outcome, Result
from ..profile.quoting import printable

TITLES = {
    Part.CHANGED: "Changed",
    Part.DECISION: "Needs your decision",
    Part.BEHAVIOUR: "Behaves differently although the text did not change",
    Part.SECURITY: "Security",
}
# Whom a change of behaviour concerns.
AUDIENCES = {
    "what your clients send and get": frozenset({Nature.REQUEST, Nature.STREAM}),
    "what your dashboards read": frozenset({Nature.METRIC}),
    "what the server does": frozenset({Nature.DEFAULT, Nature.MEANING}),
    "what it runs on": frozenset({Nature.PLATFORM}),
}
COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}
WIDTH = 80


def width() -> int:
    """Of the terminal, within what reads well; fixed elsewhere, so that logs do not differ."""
    return max(40, min(shutil.get_terminal_size().columns, 100)) if sys.stdout.isatty() else WIDTH


def problem_line(problem: Diagnostic) -> str:
    way_out = f"; {problem.fix}" if problem.fix else ""
    label = typer.style(f"{problem.code} {problem.severity}", fg="red", bold=True)
    return f"{problem.position} {label} {problem.message}{way_out}"


def show_result(result: Result, target: Release, told: set[str], written: bool) -> None:
    """told: codes of what behaves differently that stood below an earlier deployment; they are not repeated."""
    if not result.outcomes:
        typer.echo(f"{result.path}: {result.note}")
        return
    if result.source and result.source.linked:
        typer.echo(f"{result.path}: a link to {result.source.real}, which {'was' if written else 'will be'} changed")
    if result.note:
        typer.echo(f"{result.path}: {result.note}")
    for outcome in result.outcomes:
        if outcome.findings:
            _show_outcome(result, outcome, target, told, written)
    if not any(outcome.findings for outcome in result.outcomes):
        typer.echo(f"{result.path}: nothing to change\n")


def _show_outcome(result: Result, outcome: Outcome, target: Release, told: set[str], written: bool) -> None:
    _show_head(result, outcome, target)
    for part, title in TITLES.items():
        findings = outcome.of(part)
        if part in (Part.DECISION, Part.CHANGED):
            findings = sorted(findings, key=_weight if part is Part.DECISION else _place)
        show_part("Would change" if part is Part.CHANGED and not written else title, findings, told)
    typer.echo()


def show_part(title: str, findings: list[Finding], told: set[str], err: bool = False) -> None:
    """Findings of one part. told: as for `show_result`; err: on standard error."""
    if not findings:
        return
    typer.echo(f"\n  {typer.style(title, bold=True)}", err=err)
    if findings[0].change.part is Part.BEHAVIOUR:
        _show_behaviour(findings, told, err)
        return
    for finding in findings:
        typer.echo(_shown(finding), err=err)


def _show_head(result: Result, outcome: Outcome, target: Release) -> None:
    """What it is, from which release to which, and what else was read for it."""
    deployment, origin = outcome.deployment, outcome.origin
    names = [printable(name, 70) for name in (deployment.label, deployment.model or "") if name]
    typer.echo(typer.style(wrapped(f"{result.path}: {', '.join(dict.fromkeys(names)) or result.dialect}"), bold=True))
    start = origin.release.short if origin.release else "an unknown release"
    typer.echo(wrapped(f"from {start} ({origin.said}) to {target.short}", "  "))
    read = [place.name for place in deployment.elsewhere if place.read]
    if read:
        typer.echo(wrapped(f"with the variables of {', '.join(read)}", "  "))
    if not deployment.editable:
        typer.echo(wrapped("this kind of file is only read: what follows is to be changed by hand", "  "))


def _show_behaviour(findings: list[Finding], told: set[str], err: bool) -> None:
    """By those whom it concerns, the newest release first; what stood below an earlier deployment is counted only."""
    new = [finding for finding in findings if finding.change.code not in told]
    for title, natures in AUDIENCES.items():
        mine = [finding for finding in new if finding.change.rule and finding.change.rule.nature in natures]
        if mine:
            typer.echo(f"    {title}", err=err)
        for finding in sorted(mine, key=_newest, reverse=True):
            typer.echo(_shown(finding), err=err)
    if len(new) < len(findings):
        typer.echo(f"    {len(findings) - len(new)} more, as told above", err=err)
    told.update(finding.change.code for finding in findings)


def _place(finding: Finding) -> tuple[int, int]:
    return finding.line, finding.column


def _weight(finding: Finding) -> int:
    """What keeps the engine from starting comes first."""
    return list(Severity).index(finding.change.severity)


def _newest(finding: Finding) -> Release:
    assert finding.change.rule is not None
    return finding.change.rule.since


def _shown(finding: Finding) -> str:
    change = finding.change
    where = f"{finding.line}:{finding.column}" if finding.line else ""
    fix = change.way_out
    text = change.message if change.part is not Part.BEHAVIOUR else behaviour(change)
    text += f"; {fix}" if fix and fix not in text else ""
    plain = f"{where:>7} {change.code} "
    lines = textwrap.wrap(plain + text, width(), subsequent_indent=" " * 15, break_on_hyphens=False)
    first = lines[0].replace(change.code, typer.style(change.code, fg=COLOURS[change.severity]), 1)
    return "\n".join([" " * (len(plain) - len(plain.lstrip())) + first.lstrip(), *lines[1:]])


def behaviour(change: Change) -> str:
    """What moved, then since when."""
    rule = change.rule
    return change.message if rule is None else f"{change.subject}: {rule.reason} (since {rule.since.short})"


def wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(text, width(), initial_indent=indent, subsequent_indent=indent + "  ", break_on_hyphens=False)
