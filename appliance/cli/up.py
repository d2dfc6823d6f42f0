"""`appliance up FILE`: boot and stay in the foreground."""

import time
from pathlib import Path
from typing import Annotated

import typer


def up(
    file: Annotated[Path, typer.Argument(help="The profile.", show_default=False)],
    bind: Annotated[str | None, typer.Option(help="HOST:PORT instead of the profile's security.bind.")] = None,
    state_dir: Annotated[Path | None, typer.Option(help="Folder of this appliance's state.")] = None,
) -> None:
    """Boot the appliance and stay in the foreground. SIGTERM and Ctrl-C drain, a second one ends it at once."""
    started = time.monotonic()
    from appliance.cli.progress import progress
    from appliance.supervise.boot import boot

    raise typer.Exit(boot(file, bind, state_dir, started, progress()))
