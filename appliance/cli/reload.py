"""`appliance reload`: try what the profile's file holds now, and say what became of it."""

from typing import Annotated

import typer

from .running import Name, StateDir, ask, find, try_out


def reload(
    name: Name = None,
    state_dir: StateDir = None,
    wait: Annotated[bool, typer.Option(help="Stay until it is decided, and show its phases.")] = True,
    note: Annotated[str, typer.Option(help="Why, for the history.")] = "",
) -> None:
    """Try what the profile's file holds now. Exit codes: 0 it runs, 1 it was refused or undone, 2 nothing to ask."""
    from appliance.supervise.admin_protocol import Queued, Reload

    found = find(name, state_dir)
    if not wait:
        ask(found, Reload(wait=False, note=note), Queued)
        typer.echo("queued; appliance status tells what becomes of it")
        return
    try_out(found, Reload(note=note))
