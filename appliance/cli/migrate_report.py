"""What `appliance migrate` says: for people as each file is done, for programs as one JSON text at the end."""

import json
from collections.abc import Callable
from typing import Any, Protocol

import typer

from appliance.migrations.change import Part
from appliance.migrations.release import Release

from ..migrate import PARTS, Finding, Outcome, Result
from ..migrate.diff import diff
from .migrate_text import problem_line, show_result


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
        self.counts["decisions"] += sum(len(outcome.of(Part.DECISION)) for outcome in result.outcomes)
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
        if counts["changed"] and not self.written:
            said.append("--write does it")
        more = "\n`appliance explain CODE` says more about a finding" if self.findings else ""
        return ", ".join(said) + more


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
            "findings": [_finding(finding) for finding in outcome.findings],
        }


def _finding(finding: Finding) -> dict[str, Any]:
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
