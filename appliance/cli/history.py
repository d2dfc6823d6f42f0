"""`appliance history`: every state that was tried, or one of them whole."""

from typing import TYPE_CHECKING, Annotated

import typer

from .running import StateDir, ask, console, find, print_json, refuse, split_words
from .status import Format

if TYPE_CHECKING:
    from appliance.supervise.admin_protocol import Listed
    from appliance.supervise.find import Found
    from appliance.supervise.history_records import Revision


def history(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME REVISION", help="Which appliance, and one revision to show whole."),
    ] = None,
    state_dir: StateDir = None,
    limit: Annotated[int, typer.Option(min=1, max=2000, help="How many, newest first.")] = 20,
    text: Annotated[bool, typer.Option("--text", help="Show the revision's text instead of its diff.")] = False,
    format: Annotated[Format, typer.Option(help="For people, or for machines.")] = Format.TEXT,
) -> None:
    """List every state that was tried with its outcome, or show one whole: who, why, diff, phases, proof, error."""
    name, which = split_words(words or [], 1)
    if which and not which[0].isdecimal():
        refuse(f"{which[0]} is not the number of a revision")
    found = find(name, state_dir)
    if which:
        revision = one(found, int(which[0]))
        if format is Format.JSON:
            print_json(revision)
            return
        from .history_text import print_revision

        print_revision(revision, console(), text)
        return
    listed = several(found, limit)
    if format is Format.JSON:
        print_json(listed)
        return
    from .history_text import print_history

    print_history(listed, console(), limit)


def one(found: "Found", number: int) -> "Revision":
    from appliance.supervise.admin_protocol import Show, Shown

    if found.runs:
        return ask(found, Show(revision=number), Shown).revision
    from appliance.supervise.admin_answers import shown
    from appliance.supervise.history_read import read_history

    with read_history(found.folder) as history:
        return shown(history, number).revision


def several(found: "Found", limit: int) -> "Listed":
    from appliance.supervise.admin_protocol import History, Listed

    if found.runs:
        return ask(found, History(limit=limit), Listed)
    from appliance.supervise.admin_answers import listed
    from appliance.supervise.history_read import read_history

    with read_history(found.folder) as history:
        return listed(history, None, limit)
