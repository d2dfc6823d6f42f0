"""`appliance rollback`: go back to a state that was good."""

from typing import Annotated

import typer

from .running import StateDir, ask, console, find, phase_printer, refuse, split_words


def rollback(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME REVISION",
            help="Which appliance, and where to; without a number to the last good state before the one that runs.",
            show_default=False,
        ),
    ] = None,
    state_dir: StateDir = None,
    note: Annotated[str, typer.Option(help="Why, for the history.")] = "",
) -> None:
    """Go back to a state of the history and hold it: the text that ran is not tried again until the file changes.

    Exit codes: 0 it runs, 1 it was refused or undone, 2 nothing to ask or nothing to go back to.
    """
    from appliance.supervise.admin_protocol import Rollback, Tried

    from .outcome_text import print_outcome

    name, which = split_words(words or [], 1)
    if which and not which[0].isdecimal():
        refuse(f"{which[0]} is not the number of a revision")
    request = Rollback(revision=int(which[0]) if which else None, note=note)
    tried = ask(find(name, state_dir), request, Tried, phase_printer(), wait=True)
    raise typer.Exit(print_outcome(tried.outcome, console()))
