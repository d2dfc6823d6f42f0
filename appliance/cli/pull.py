"""`appliance pull FILE`: fetch and verify a profile's model."""

from pathlib import Path
from typing import Annotated

import typer


def pull(file: Annotated[Path, typer.Argument(help="The profile.", show_default=False)]) -> None:
    """Fetch and verify the model and the adapters of a profile, with a progress bar; what is here already stays."""
    from appliance.cli.progress import progress
    from appliance.diagnostics import ApplianceError
    from appliance.source import resolve, resolve_adapters
    from appliance.validate import validate

    checked = validate(file, offline=True)
    if checked.profile is None or checked.errors:
        raise ApplianceError(list(checked.errors), exit_code=1 if checked.readable else 2)
    places = checked.position("model.source"), checked.position("model.sha256")
    found = resolve(checked.profile.model, True, progress(), file.parent, *places)
    typer.echo(f"{found.origin}\n  {found.path}" + (f"\n  sha256 {found.sha256} verified" if found.sha256 else ""))
    folders = resolve_adapters(checked.profile.model, True, file.parent, checked.position, progress())
    for adapter in checked.profile.model.adapters:
        typer.echo(f"{adapter.source}\n  {folders[adapter.name]}")
