"""Revisions for people, on 80 columns."""

import re
from dataclasses import dataclass

from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from appliance.supervise.admin_protocol import Listed
from appliance.supervise.history_records import Revision

from .changes_text import grid, section
from .times import duration, moment

FILE_NAME = re.compile(r"^.*?:(?=\d+:\d+ AP)")
"""Of a diagnostic; where there is little room its line and column say enough."""


@dataclass(frozen=True)
class Said:
    style: str
    meaning: str


OUTCOMES: dict[str | None, Said] = {
    None: Said("cyan", "being tried"),
    "applied": Said("green", "it ran"),
    "unchanged": Said("green", "the same plan ran already"),
    "invalid": Said("red", "its text is not valid"),
    "rejected": Said("red", "it does not fit here"),
    "failed": Said("red", "it did not boot or prove itself, and was undone"),
    "superseded": Said("dim", "a newer text came before its turn"),
    "interrupted": Said("yellow", "the appliance ended meanwhile"),
}


def outcome_text(outcome: str | None) -> tuple[str, str]:
    """(word, style)"""
    return outcome or "trying", OUTCOMES[outcome].style


def print_history(listed: Listed, console: Console, limit: int) -> None:
    """limit: how many were asked for."""
    if not listed.revisions:
        console.print("nothing was tried yet")
        return
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim", expand=True)
    table.add_column("", no_wrap=True, justify="right")
    table.add_column("when", no_wrap=True)
    table.add_column("by", no_wrap=True)
    table.add_column("outcome", no_wrap=True)
    table.add_column("took", no_wrap=True, justify="right")
    table.add_column("", ratio=1, no_wrap=True, overflow="ellipsis")
    for found in listed.revisions:
        runs = found.number == listed.running
        number = Text(f"{'▶ ' if runs else ''}{found.number}", style="bold" if runs else "")
        took = duration(found.seconds) if found.seconds is not None else ""
        word, style = outcome_text(found.outcome)
        table.add_row(number, moment(found.at), found.source, Text(word, style=style), took, _remark(found))
    console.print(table)
    if listed.running is not None:
        console.print(Text("▶ runs now; appliance history REVISION shows one whole", style="dim"))
    if len(listed.revisions) == limit and listed.revisions[-1].number > 1:
        console.print(Text(f"the newest {limit}; --limit shows more", style="dim"))


def _remark(revision: Revision) -> Text:
    """The one thing worth knowing: why not, else from which commit, else what for, else what changed."""
    if revision.error:
        return Text(FILE_NAME.sub("", revision.error.splitlines()[0]), style="dim")
    if revision.commit:
        return Text(f"{revision.commit.id[:8]} {revision.commit.subject}", style="dim")
    return Text(revision.note or "; ".join(revision.changes), style="dim")


def print_revision(revision: Revision, console: Console, text: bool) -> None:
    word, style = outcome_text(revision.outcome)
    console.print(Text.assemble((f"revision {revision.number}  ", "bold"), (word, style), f"  {revision.hash}"))
    console.print(_facts(revision))
    if revision.error:
        section(console, "Error", Text(revision.error, style="red"))
    if revision.changes:
        section(console, "Changes of the plan", Text("\n".join(revision.changes)))
    if revision.phases:
        section(console, "Phases", _phases(revision))
    if revision.proof:
        table = grid(2)
        for name, value in revision.proof.items():
            table.add_row(name, str(value))
        section(console, "Proof", table)
    if text:
        section(console, "Text", Syntax(revision.text, "yaml", theme="ansi_dark", background_color="default"))
    elif revision.diff:
        section(console, "Text", diff_text(revision.diff))


def _facts(revision: Revision) -> Table:
    commit = revision.commit
    base = f"revision {revision.base}" if revision.base is not None else revision.base_hash
    facts = {
        "when": moment(revision.at) + (f", in {duration(revision.seconds)}" if revision.seconds is not None else ""),
        "by": revision.source + (f" ({revision.actor})" if revision.actor else ""),
        "note": revision.note,
        "commit": f"{commit.id[:12]} {commit.subject}, {commit.author}" if commit else "",
        "after": base,
        "how": revision.action,
        "generation": str(revision.generation) if revision.generation is not None else "",
        "plan": revision.plan,
    }
    table = grid(2)
    for name, value in facts.items():
        if value:
            table.add_row(Text(f"  {name}", style="dim"), Text(value))
    return table


def _phases(revision: Revision) -> Table:
    table = grid(3)
    table.columns[1].min_width = len("123.45 s")
    for phase in revision.phases:
        table.add_row(phase.name, f"{phase.seconds:6.2f} s", Text(phase.detail, style="dim"))
    return table


def diff_text(diff: str) -> Text:
    text = Text()
    for line in diff.splitlines():
        bold = line.startswith(("+++", "---"))
        style = "bold" if bold else {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "")
        text.append(f"{line}\n", style=style)
    text.rstrip()
    return text
