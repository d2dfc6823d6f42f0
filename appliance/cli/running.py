"""What commands about a running appliance share: which one is meant, and the call to it."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn, TypeVar

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from appliance.supervise.admin_protocol import Answer, Reload, Request, Rollback
    from appliance.supervise.find import Found
    from appliance.supervise.history_records import Phase

Wanted = TypeVar("Wanted", bound="Answer")

Name = Annotated[
    str | None,
    typer.Argument(metavar="NAME", help="The profile's name; not needed where only one runs.", show_default=False),
]
StateDir = Annotated[
    Path | None, typer.Option(help="The folder given to appliance up, if one was.", show_default=False)
]
WHICH = re.compile(r"\d+|running|file")


def split_words(words: Sequence[str], limit: int) -> tuple[str | None, list[str]]:
    """(name, revisions): a number, `running` and `file` are revisions, another word is a name."""
    which = [word for word in words if WHICH.fullmatch(word)]
    names = [word for word in words if word not in which]
    if len(names) > 1:
        refuse(f"{names[0]} and {names[1]} cannot both be the name; a revision is a number, running or file")
    if len(which) > limit:
        refuse(f"{which[limit]} is one too many: this command takes {limit} of number, running and file")
    return (names[0] if names else None), which


def refuse(fact: str) -> NoReturn:
    typer.echo(f"error: {fact}", err=True)
    raise typer.Exit(2)


def find(name: str | None, state_dir: Path | None) -> "Found":
    from appliance.supervise.find import find as look

    return look(name, state_dir)


def ask(
    found: "Found",
    request: "Request",
    answer: type[Wanted],
    told: "Callable[[Phase | str], None] | None" = None,
    wait: bool = False,
) -> Wanted:
    """wait: however long it takes."""
    from appliance.supervise.admin_client import ANSWER_SECONDS, AdminClient

    with AdminClient(found.folder, found.name) as client:
        return client.ask(request, answer, told, None if wait else ANSWER_SECONDS)


def console() -> "Console":
    from rich.console import Console

    return Console(highlight=False)


def print_json(record: object) -> None:
    import msgspec

    typer.echo(msgspec.json.format(msgspec.json.encode(record), indent=2).decode())


def try_out(found: "Found", request: "Reload | Rollback") -> NoReturn:
    """Shows the phases as they end, then the outcome, and exits with what that means."""
    from appliance.supervise.admin_protocol import Tried

    from .outcome_text import print_outcome

    try:
        tried = ask(found, request, Tried, print_phase, wait=True)
    except KeyboardInterrupt:
        typer.echo("it goes on without this command; appliance status tells what becomes of it", err=True)
        raise typer.Exit(130) from None
    raise typer.Exit(print_outcome(tried.outcome, console()))


def print_phase(phase: "Phase | str") -> None:
    """In the form in which `appliance up` prints them; on standard error what lasts just now."""
    if isinstance(phase, str):
        typer.echo(f"  {phase} ...", err=True)
        return
    typer.echo(f"  {phase.name:<24}{phase.seconds:6.2f} s  {phase.detail}".rstrip())
