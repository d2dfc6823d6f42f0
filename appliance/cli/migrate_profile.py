"""`appliance migrate --as profile`: profiles on standard output or in files, what they lack on standard error."""

import json
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from appliance.migrations.change import Part
from appliance.migrations.rule import Nature, Rule

from ..migrate import Finding, Outcome, Result, Wanted
from ..migrate.source import Lines
from ..migrate.to_profile import Drafted, Missing, to_profile
from .migrate_report import finding_entry
from .migrate_text import TITLES, problem_line, show_part, width

INTERFACE = frozenset({Nature.REQUEST, Nature.STREAM, Nature.METRIC})


@dataclass(frozen=True)
class Made:
    """path: where the profile was written; error: why it was not."""

    result: Result
    outcome: Outcome
    drafted: Drafted
    path: str = ""
    error: str = ""


def run_profiles(results: list[Result], wanted: Wanted, write: bool, as_json: bool) -> int:
    """The exit code."""
    made = []
    for result in results:
        if result.problem is not None and not result.silent:
            typer.echo(problem_line(result.problem), err=True)
        elif not result.outcomes and result.named:
            typer.echo(f"{result.path}: {result.note}", err=True)
        if result.dialect == "profile":
            typer.echo(f"{result.path}: is a profile already", err=True)
            continue
        for outcome in result.outcomes:
            if outcome.deployment.sites:
                drafted = to_profile(outcome, wanted.target)
                made.append(_written(result, outcome, drafted) if write else Made(result, outcome, drafted))
    if as_json:
        typer.echo(json.dumps({"version": 1, "profiles": [_entry(one) for one in made]}, indent=2, ensure_ascii=False))
    else:
        told: set[str] = set()
        for index, one in enumerate(made):
            _show(one, index, told)
    failed = any(result.problem is not None and not result.silent for result in results)
    return 2 if failed or any(one.error for one in made) else 0


def _written(result: Result, outcome: Outcome, drafted: Drafted) -> Made:
    path = Path(result.path).with_name(f"{drafted.name}.profile.yaml")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(drafted.text)
    except FileExistsError:
        return Made(result, outcome, drafted, error=f"{path} is there already; move it away first")
    except OSError as error:
        return Made(result, outcome, drafted, error=f"{path} cannot be written: {error.strerror}")
    return Made(result, outcome, drafted, str(path))


def _show(one: Made, index: int, told: set[str]) -> None:
    if not (one.path or one.error):
        typer.echo(("---\n" if index else "") + one.drafted.text, nl=False)
    drafted, lines = one.drafted, Lines(one.result.text)
    said = one.error or f"profile {drafted.name}, backend {drafted.backend}" + (f", in {one.path}" if one.path else "")
    typer.echo(typer.style(f"{one.result.path}: {said}", bold=True), err=True)
    if drafted.missing:
        typer.echo("\n  No equivalent, or yours to write", err=True)
    for missing in drafted.missing:
        where = "{}:{}".format(*_place(missing, lines)) if missing.site else ""
        text = f"{where:>7} VM0108 {missing.subject}: {missing.why}"
        typer.echo(textwrap.fill(text, width(), subsequent_indent=" " * 15, break_on_hyphens=False), err=True)
    if drafted.backend == "native" and "source: hf:" in drafted.text:
        family = "whether this engine runs the model's family is seen when `appliance pull` has fetched it"
        typer.echo("\n" + textwrap.fill(family, width(), initial_indent="  ", subsequent_indent="  "), err=True)
    for part in (Part.DECISION, Part.BEHAVIOUR):
        show_part(TITLES[part], _concerning(one, part), told, err=True)
    if drafted.diagnostics:
        typer.echo("\n  What `appliance validate` says about it", err=True)
    for found in drafted.diagnostics:
        text = f"{found.code} {found.path}: {found.message}" + (f"; {found.fix}" if found.fix else "")
        typer.echo(textwrap.fill(text, width(), initial_indent=" " * 8, subsequent_indent=" " * 15), err=True)
    typer.echo(err=True)


def _concerning(one: Made, part: Part) -> list[Finding]:
    """Of the options themselves, and where vLLM does not run of its interface; what is to be done in the old file does
    not concern the profile."""
    found = [finding for finding in one.outcome.of(part) if finding.change.rule is not None]
    if part is Part.DECISION:
        return [finding for finding in found if finding.change.rule and _open(finding.change.rule)]
    if one.drafted.backend == "vllm":
        return found
    return [finding for finding in found if finding.change.rule and finding.change.rule.nature in INTERFACE]


def _open(rule: Rule) -> bool:
    """Not settled by the rule's own rewrite, which the profile has in any case."""
    return rule.puts is None or not rule.safe


def _place(missing: Missing, lines: Lines) -> tuple[int, int]:
    return lines.at(missing.site.name_span.start) if missing.site else (0, 0)


def _entry(one: Made) -> dict[str, Any]:
    lines = Lines(one.result.text)
    missing = []
    for item in one.drafted.missing:
        line, column = _place(item, lines)
        place = {"line": line, "column": column}
        missing.append({"subject": item.subject, "reason": item.why, "yours": item.yours, **place})
    return {
        "file": one.result.path,
        "name": one.drafted.name,
        "backend": one.drafted.backend,
        "profile": one.drafted.text,
        "written": one.path or None,
        "error": one.error or None,
        "missing": missing,
        "findings": [
            finding_entry(finding) for part in (Part.DECISION, Part.BEHAVIOUR) for finding in _concerning(one, part)
        ],
        "diagnostics": [
            {"code": found.code, "severity": str(found.severity), "path": found.path, "message": found.message}
            for found in one.drafted.diagnostics
        ],
    }
