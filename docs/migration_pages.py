"""The pages of docs/ about migrations: every rule by release, and what becomes of each case file of the tests."""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from appliance.migrate import Found, Outcome, Wanted, migrate_file
from appliance.migrations.change import Part
from appliance.migrations.pages import pages
from appliance.migrations.release import Release
from appliance.migrations.releases import RULES
from appliance.migrations.rule import Rule

CASES = Path(__file__).parent.parent / "tests" / "migrations" / "cases"
TARGET = Release(0, 32)
_OUTPUTS = (".sites", ".migrated")


def rules_page() -> str:
    count = len(RULES)
    parts = [
        "# What changed, release by release\n",
        f"`appliance migrate` and `appliance validate` follow these {count} rules; `appliance explain CODE` prints one",
        "with its evidence. A line shows what happened, why, and what becomes of an example.\n",
        "## Findings of any release\n",
        *(f"- **{code}** {page.title}: {page.meaning}" for code, page in pages().items() if code.startswith("VM00")),
    ]
    newest_first = sorted(RULES, key=lambda rule: (rule.since, rule.code), reverse=True)
    for release, rules in groupby(newest_first, key=lambda rule: rule.since):
        parts += [f"\n## {release.short}\n", *map(_line, sorted(rules, key=lambda rule: rule.code))]
    return "\n".join(parts) + "\n"


def _line(rule: Rule) -> str:
    text = f"- **{rule.code}** `{rule.target}`: {rule.nature}. {rule.reason[0].upper()}{rule.reason[1:]}."
    if rule.advice:
        text += f" *Yours to decide: {rule.advice}.*"
    if rule.before and rule.before != rule.after:
        text += f" `{rule.before}` → " + (f"`{rule.after}`" if rule.after else "nothing")
    return text


def tried_page() -> str:
    parts = [
        "# Migrations tried\n",
        f"Every case file of `tests/migrations/cases`, brought to {TARGET.short}. *from*: the release, as far as the",
        "file tells. *changed*: what edited the text. *yours*: what is left to a person. *security*: remarks. Behind a",
        "code stands how often it was met. `make test-vllm` hands what comes out to vLLM's own parser and builds every",
        "config class of the engine from it; `tests/support/vllm_cannot.py` names what a CPU build cannot construct,",
        "and why.\n",
        "| file | dialect | from | changed | yours | security |",
        "|---|---|---|---|---|---|",
    ]
    files = sorted(path for path in CASES.rglob("*") if path.is_file() and path.suffix not in _OUTPUTS)
    return "\n".join([*parts, *map(_row, files)]) + "\n"


def _row(path: Path) -> str:
    result = migrate_file(Found(str(path), True), Wanted(TARGET))
    name = path.relative_to(CASES).as_posix()
    if result.problem is not None:
        return f"| {name} | {result.dialect or ''} | | refused: {result.problem.message} | | |"
    starts = dict.fromkeys(outcome.origin.release.short for outcome in result.outcomes if outcome.origin.release)
    columns = (_codes(result.outcomes, part) for part in (Part.CHANGED, Part.DECISION, Part.SECURITY))
    return f"| {name} | {result.dialect or ''} | {', '.join(starts)} | {' | '.join(columns)} |"


def _codes(outcomes: tuple[Outcome, ...], part: Part) -> str:
    found = list(_found(outcomes, part))
    counted = {code: found.count(code) for code in sorted(set(found))}
    return ", ".join(f"{code} ×{count}" if count > 1 else code for code, count in counted.items())


def _found(outcomes: tuple[Outcome, ...], part: Part) -> Iterator[str]:
    for outcome in outcomes:
        yield from (finding.change.code for finding in outcome.of(part))
