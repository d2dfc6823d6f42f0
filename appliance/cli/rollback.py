"""`appliance rollback`: go back to a state that was good."""

from typing import Annotated

import typer

from .running import StateDir, find, refuse, split_words, try_out


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
    from appliance.supervise.admin_protocol import Rollback

    name, which = split_words(words or [], 1)
    if which and not which[0].isdecimal():
        refuse(f"{which[0]} is not the number of a revision")
    number = int(which[0]) if which else None
    try_out(find(name, state_dir), Rollback(revision=number, note=note))
