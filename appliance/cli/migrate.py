"""`appliance migrate FILE...`: options of other releases become those of this one, in place and nothing else."""

from collections.abc import Iterable
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

if TYPE_CHECKING:
    from appliance.migrations.release import Release

    from ..migrate import Result

NEWEST = "0.32"


class Report(StrEnum):
    TEXT = "text"
    JSON = "json"


class As(StrEnum):
    SAME = "same"
    PROFILE = "profile"


def migrate(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="Files, folders, or patterns in quotes.", show_default=False),
    ],
    start: Annotated[
        str | None,
        typer.Option("--from", metavar="RELEASE", help="Release the files are for.", show_default="read there"),
    ] = None,
    target: Annotated[str, typer.Option("--to", metavar="RELEASE", help="Release they shall be for.")] = NEWEST,
    form: Annotated[As, typer.Option("--as", help="The same file, or a profile of the appliance.")] = As.SAME,
    dialect: Annotated[
        str | None, typer.Option(metavar="NAME", help="What the files are.", show_default="seen from the content")
    ] = None,
    write: Annotated[bool, typer.Option("--write", help="Change the files.")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Show what would change (the default).")] = False,
    check: Annotated[bool, typer.Option("--check", help="Exit with 1 when something would change.")] = False,
    report: Annotated[Report, typer.Option(help="For people or programs.")] = Report.TEXT,
    no_comments: Annotated[
        bool, typer.Option("--no-comments", help="Leave no remark in the files where a person has to decide.")
    ] = False,
) -> None:
    """Bring engine options in any file to another release; nothing else in it changes.

    Without --write nothing is written. Exit codes: 0 done, 1 with --check when something would change, 2 a file that
    cannot be read or written.
    """
    from ..migrate import Wanted, find, migrate_file

    if sum((write, check, diff)) > 1 and not (write and diff):
        refuse("--check goes with neither --write nor --diff", "choose one")
    given = release_of(start, "--from") if start else None
    wanted = Wanted(release_of(target, "--to"), given, known_dialect(dialect), not no_comments)
    results = (migrate_file(found, wanted) for found in find(files))
    if form is As.PROFILE:
        from .migrate_profile import run_profiles

        raise typer.Exit(run_profiles(list(results), wanted, write, report is Report.JSON))
    raise typer.Exit(run(results, wanted.target, report, write, check, diff or not (write or check)))


def run(results: "Iterable[Result]", target: "Release", report: Report, write: bool, check: bool, diff: bool) -> int:
    """Shows each result as it comes and gives the exit code."""
    from .migrate_report import REPORTS

    shown = REPORTS[report](target, diff, write)
    changed = failed = False
    for result in results:
        if write:
            result = written(result)
        changed |= result.changes
        failed |= result.problem is not None and not result.silent
        shown.add(result)
    shown.end()
    return 2 if failed else int(check and changed)


def written(result: "Result") -> "Result":
    """The result after its text was put into the file, or why it was not."""
    if not result.changes or result.source is None:
        return result
    from ..migrate.finding import refused
    from ..migrate.write import NotWrittenError, write

    try:
        write(result.source, result.new_text)
    except NotWrittenError as error:
        return replace(result, problem=refused(result.path, "VM0107", error.fact, error.fix))
    return result


def release_of(text: str, option: str) -> "Release":
    """A release that the catalogue can speak about; anything else ends the command."""
    from appliance.migrations.catalogue import catalogue
    from appliance.migrations.release import Release

    found = Release.parse(text)
    newest = catalogue().newest
    if found is None:
        refuse(f'{option}: "{text}" is not a release', "write one like 0.32 or 0.10.2")
    if found > newest and found[:2] != newest[:2]:
        refuse(f"{option}: {text} is newer than {newest.short}, the newest release this appliance knows", "upgrade it")
    return found


def known_dialect(name: str | None) -> str | None:
    from ..migrate.road import dialects

    if name is not None and name not in dialects():
        from difflib import get_close_matches

        near = get_close_matches(name, dialects(), 1)
        refuse(
            f'--dialect: "{name}" is none', f"did you mean {near[0]}?" if near else f"one of {', '.join(dialects())}"
        )
    return name


def refuse(fact: str, fix: str) -> NoReturn:
    typer.echo(f"error: {fact}; {fix}", err=True)
    raise typer.Exit(2)
