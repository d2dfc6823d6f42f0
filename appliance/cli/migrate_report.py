"""What `appliance migrate` says: for people as each file is done, for programs as one JSON text at the end."""

import json
import shlex
from collections.abc import Callable
from typing import Any, Protocol

import typer

from appliance.diagnostics import Severity
from appliance.migrations.change import Part
from appliance.migrations.release import Release

from ..migrate import PARTS, Finding, Outcome, Result
from ..migrate.diff import diff
from .migrate_text import problem_line, show_result, wrapped

# files and decisions named in the last lines
_SHOWN = 6


class Shown(Protocol):
    def add(self, result: Result) -> None: ...

    def end(self) -> None: ...


class Text:
    """The diff of a file, then the four parts about each of its deployments, then one line that sums up."""

    def __init__(self, target: Release, diffs: bool, written: bool) -> None:
        self.target = target
        self.diffs = diffs
        self.written = written
        self.told: set[str] = set()
        self.findings = False
        self.counts = {"files": 0, "changed": 0, "decisions": 0, "problems": 0}
        self.named: list[str] = []
        self.decisions: list[str] = []

    def add(self, result: Result) -> None:
        if result.silent:
            return
        self.counts["files"] += 1
        if result.problem is not None:
            self.counts["problems"] += 1
            typer.echo(problem_line(result.problem), err=True)
            return
        if self.diffs and result.changes:
            for line in diff(result):
                typer.echo(_coloured(line))
            typer.echo()
        self.counts["changed"] += result.changes
        self.findings |= any(outcome.findings for outcome in result.outcomes)
        self.named += [shlex.quote(result.path)] if result.changes else []
        for outcome in result.outcomes:
            own = outcome.of(Part.DECISION)
            self.counts["decisions"] += len(own)
            self.decisions += [_place(result, one) for one in own if one.change.severity is not Severity.NOTE]
        show_result(result, self.target, self.told, self.written)

    def end(self) -> None:
        typer.echo(self._summary())

    def _summary(self) -> str:
        counts = self.counts
        if not counts["files"]:
            return "no file with engine options found"
        verb = "changed" if self.written else "would change"
        said = [f"{counts['changed']} of {_many(counts['files'], 'file')} {verb}"]
        if counts["decisions"]:
            said.append(f"{_many(counts['decisions'], 'decision')} for you")
        if counts["problems"]:
            said.append(f"{counts['problems']} not read or written")
        more = "\n`appliance explain CODE` says more about a finding" if self.findings else ""
        return ", ".join(said) + "".join(f"\n{step}" for step in self._steps()) + more

    def _steps(self) -> list[str]:
        """What is left to do, in order."""
        steps = []
        if self.named and not self.written:
            steps.append(f"write it: appliance migrate --write {_listed(self.named, ' ')}")
        if self.decisions:
            steps.append(f"decide: {_listed(list(dict.fromkeys(self.decisions)), ', ')}")
        return [wrapped(f"{number}. {step}", "  ") for number, step in enumerate(steps, 1)]


def _place(result: Result, finding: Finding) -> str:
    line = f":{finding.line}" if finding.line else ""
    return f"{finding.change.code} ({result.path}{line})"


def _listed(words: list[str], between: str) -> str:
    left = len(words) - _SHOWN
    return between.join(words[:_SHOWN]) + (f"{between}... and {left} more" if left > 0 else "")


def _many(count: int, word: str) -> str:
    return f"{count} {word}{'s' * (count != 1)}"


def _coloured(line: str) -> str:
    if line.startswith(("+++", "---")):
        return typer.style(line, bold=True)
    colours = {"+": "green", "-": "red", "@": "cyan"}
    return typer.style(line, fg=colours[line[0]]) if line[:1] in colours else line


class Json:
    """Keys are stable; new ones may come."""

    def __init__(self, target: Release, diffs: bool, written: bool) -> None:
        self.target = target
        self.diffs = diffs
        self.written = written
        self.files: list[dict[str, Any]] = []

    def add(self, result: Result) -> None:
        if not result.silent:
            self.files.append(self._file(result))

    def end(self) -> None:
        findings = [finding for file in self.files for one in file["deployments"] for finding in one["findings"]]
        summary = {
            "files": len(self.files),
            "changed": sum(file["changes"] for file in self.files),
            "problems": sum(file["problem"] is not None for file in self.files),
            **{name: sum(finding["part"] == name for finding in findings) for name in PARTS.values()},
        }
        document = {"version": 1, "to": str(self.target), "summary": summary, "files": self.files}
        typer.echo(json.dumps(document, indent=2, ensure_ascii=False))

    def _file(self, result: Result) -> dict[str, Any]:
        problem = result.problem
        place = {"line": problem.position.line, "column": problem.position.column} if problem else {}
        said = {"code": problem.code, "message": problem.message, "fix": problem.fix, **place} if problem else None
        return {
            "file": result.path,
            "real": str(result.source.real) if result.source and result.source.linked else None,
            "dialect": result.dialect,
            "encoding": result.source.encoding if result.source else None,
            "changes": result.changes,
            "written": self.written and result.changes,
            "problem": said,
            "note": result.note or None,
            "deployments": [self._deployment(outcome) for outcome in result.outcomes],
            "diff": "".join(line + "\n" for line in diff(result)) if self.diffs else None,
        }

    def _deployment(self, outcome: Outcome) -> dict[str, Any]:
        origin = outcome.origin
        return {
            "name": outcome.deployment.label or None,
            "model": outcome.deployment.model,
            "from": str(origin.release) if origin.release else None,
            "from_source": origin.said,
            "variables_of": [place.name for place in outcome.deployment.elsewhere if place.read],
            "findings": [finding_entry(finding) for finding in outcome.findings],
        }


def finding_entry(finding: Finding) -> dict[str, Any]:
    change = finding.change
    return {
        "part": PARTS[change.part],
        "code": change.code,
        "severity": str(change.severity),
        "line": finding.line,
        "column": finding.column,
        "subject": change.subject,
        "message": change.message,
        "fix": change.way_out,
        "since": str(change.rule.since) if change.rule else None,
        "evidence": change.rule.evidence if change.rule else None,
    }


REPORTS: dict[str, Callable[[Release, bool, bool], Shown]] = {"text": Text, "json": Json}
