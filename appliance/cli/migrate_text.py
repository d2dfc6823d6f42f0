"""One migrated file for people: its four parts, wrapped to the terminal."""

import shutil
import sys
import textwrap

import typer

from appliance.diagnostics import Diagnostic, Severity
from appliance.migrations.change import Part
from appliance.migrations.pages import pages
from appliance.migrations.release import Release

from ..migrate import Finding, Outcome, Result
from ..profile.quoting import printable

TITLES = {
    Part.CHANGED: "Changed",
    Part.DECISION: "Needs your decision",
    Part.BEHAVIOUR: "Behaves differently although the text did not change",
    Part.SECURITY: "Security",
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
    deployment, origin = outcome.deployment, outcome.origin
    names = [printable(name, 70) for name in (deployment.label, deployment.model or "") if name]
    typer.echo(typer.style(_wrapped(f"{result.path}: {', '.join(dict.fromkeys(names)) or result.dialect}"), bold=True))
    start = origin.release.short if origin.release else "an unknown release"
    typer.echo(_wrapped(f"from {start} ({origin.said}) to {target.short}", "  "))
    read = [place.name for place in deployment.elsewhere if place.read]
    if read:
        typer.echo(_wrapped(f"with the variables of {', '.join(read)}", "  "))
    if not deployment.editable:
        typer.echo(_wrapped("this kind of file is only read: what follows is to be changed by hand", "  "))
    for part, title in TITLES.items():
        findings = outcome.of(part)
        if not findings:
            continue
        if part is Part.CHANGED and not written:
            title = "Would change"
        typer.echo(f"\n  {typer.style(title, bold=True)}")
        new = [finding for finding in findings if part is not Part.BEHAVIOUR or finding.change.code not in told]
        for finding in new:
            typer.echo(_shown(finding))
        if len(new) < len(findings):
            typer.echo(f"    {len(findings) - len(new)} more, as told above")
        if part is Part.BEHAVIOUR:
            told.update(finding.change.code for finding in findings)
    typer.echo()


def _shown(finding: Finding) -> str:
    change = finding.change
    where = f"{finding.line}:{finding.column}" if finding.line else ""
    fix = change.way_out or (_page_fix(change.code) if change.part is Part.DECISION else "")
    text = change.message + (f"; {fix}" if fix and fix not in change.message else "")
    plain = f"{where:>7} {change.code} "
    lines = textwrap.wrap(plain + text, width(), subsequent_indent=" " * 15, break_on_hyphens=False)
    first = lines[0].replace(change.code, typer.style(change.code, fg=COLOURS[change.severity]), 1)
    return "\n".join([" " * (len(plain) - len(plain.lstrip())) + first.lstrip(), *lines[1:]])


def _page_fix(code: str) -> str:
    page = pages().get(code)
    return page.way_out if page and page.way_out != "delete it" else ""


def _wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(text, width(), initial_indent=indent, subsequent_indent=indent + "  ", break_on_hyphens=False)
