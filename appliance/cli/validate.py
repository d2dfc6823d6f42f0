"""`appliance validate FILE...`: everything that booting would refuse, without booting."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ..diagnostics import Diagnostic
    from ..profile import Profile
    from ..validate import Facts, ValidationResult


NOT_HERE = ("AP0504", "AP0507")
"""A model that was not fetched yet is no fault of the profile."""


class Format(StrEnum):
    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"


def validate(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE", help="Profiles, or files that hold engine options.", show_default=False),
    ],
    target: Annotated[
        str | None, typer.Option(help="Release the files must be written for.", show_default="the newest")
    ] = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="Leave out what depends on this machine: files, keys, memory, ports.")
    ] = False,
    skip_others: Annotated[
        bool, typer.Option("--skip-others", help="Pass over files that are neither profiles nor hold engine options.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings count as errors.")] = False,
    format: Annotated[Format, typer.Option(help="For people, programs, code scanning, or GitHub's log.")] = Format.TEXT,
) -> None:
    """Check profiles and files of other programs, line by line, without starting anything.

    Exit codes: 0 fine, 1 findings, 2 a file that cannot be read.
    """
    results = [check(str(file), offline, target) for file in files if not (skip_others and is_other(str(file)))]
    if format is Format.TEXT:
        print_text(results)
    else:
        from .report import REPORTS

        typer.echo(REPORTS[format](results), nl=False)
    if not all(result.readable for result in results):
        raise typer.Exit(2)
    if any(result.errors or (strict and result.warnings) for result in results):
        raise typer.Exit(1)


def check_target(target: str | None) -> None:
    from ..validate.rules.release import NEWEST

    if target in (None, NEWEST):
        return
    from ..diagnostics import ApplianceError, Diagnostic, Position, Severity

    fact = f'"{target}" is not a release that this appliance validates profiles for'
    finding = Diagnostic("AP0201", Severity.ERROR, Position("--target"), "", fact, f"known: {NEWEST}")
    raise ApplianceError([finding], exit_code=2)


def check(file: str, offline: bool, target: str | None = None) -> "ValidationResult":
    """A file of another program by its options; a profile by the tiers of validation, the planner's as the last one."""
    from ..profile.recognise import is_profile_file

    if not is_profile_file(file):  # of a profile nothing of migration is loaded
        from ..migrate.foreign import validate_foreign
        from .migrate import NEWEST, release_of

        foreign = validate_foreign(file, release_of(target or NEWEST, "--target"))
        if foreign is not None:
            return foreign
    check_target(target)
    return check_profile(file, offline)


def is_other(file: str) -> bool:
    from ..migrate.foreign import is_known

    return not is_known(file)


def check_profile(file: str, offline: bool) -> "ValidationResult":
    from ..validate import validate

    if offline:
        return validate(file, offline=True)
    wrong: list[Diagnostic] = []
    result = validate(file, locate=lambda profile: locate(file, profile, wrong))
    if not wrong and not result.errors and result.facts and result.facts.model_path:
        plan(file, result, result.facts, wrong)
    return replace(result, diagnostics=(*result.diagnostics, *wrong))


def plan(file: str, result: "ValidationResult", facts: "Facts", wrong: "list[Diagnostic]") -> None:
    """As booting would, with the adapters that are here; what is refused, or not here yet, goes to `wrong`."""
    from ..plan import make_plan, probe, read_checkpoint

    assert facts.model_path is not None
    with collected(wrong):
        adapters = adapters_here(file, result, facts, wrong)
        checkpoint = read_checkpoint(facts.model_path, result.position)
        make_plan(facts.profile, probe(), checkpoint, position=result.position, adapters=adapters)


def adapters_here(file: str, result: "ValidationResult", facts: "Facts", wrong: "list[Diagnostic]") -> dict[str, Path]:
    """Folder of each that lies on this machine, by its name."""
    from ..diagnostics import ApplianceError
    from ..source import resolve_adapter

    found = {}
    for index, adapter in enumerate(facts.profile.model.adapters):
        try:
            found[adapter.name] = resolve_adapter(adapter, index, False, Path(file).parent, result.position)
        except ApplianceError as error:
            if not any(said.code in NOT_HERE for said in error.diagnostics):
                raise
            fact, fix = "the adapter is not on this machine yet", f"`appliance pull {file}` fetches it"
            wrong.append(facts.note("AP0301", f"model.adapters[{index}].source", fact, fix))
    return found


def locate(file: str, profile: "Profile", wrong: "list[Diagnostic]") -> str | None:
    """A hub's or a wheel's model in this machine's caches; a wrong one that is there goes to `wrong`."""
    from ..diagnostics import ApplianceError
    from ..source import resolve

    try:
        return str(resolve(profile.model, base=Path(file).parent).path)
    except ApplianceError as error:
        wrong.extend(found for found in error.diagnostics if found.code not in NOT_HERE)
        return None


@contextmanager
def collected(found: "list[Diagnostic]") -> "Iterator[None]":
    """Adds the block's known failures to `found`."""
    from ..diagnostics import ApplianceError

    try:
        yield
    except ApplianceError as error:
        found.extend(error.diagnostics)


def print_text(results: "list[ValidationResult]") -> None:
    from .show import show

    for result in results:
        show(result.diagnostics)
        typer.echo(summary(result.document.file, len(result.errors), len(result.warnings)))


def summary(file: str, errors: int, warnings: int) -> str:
    counts = [
        f"{count} {word}{'s' * (count > 1)}" for count, word in ((errors, "error"), (warnings, "warning")) if count
    ]
    said = ", ".join(counts)
    if errors:
        return f"{file}: {typer.style(said, fg='red', bold=True)}"
    return f"{file}: {typer.style('fine', fg='green')}" + (f", {said}" if said else "")
