"""`appliance schema`: JSON Schemas of what people and machines exchange with the appliance."""

import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

# name -> module:function that gives the schema
SCHEMAS: dict[str, str] = {
    "profile": "appliance.profile.schema:json_schema",
    "plan": "appliance.plan:plan_schema",
}


def schema(
    name: Annotated[
        str | None, typer.Argument(help=f"One of {', '.join(SCHEMAS)}.", show_default="profile, or all with --write")
    ] = None,
    write: Annotated[
        bool, typer.Option("--write", help="Write NAME.schema.json into the folder schemas/ of this checkout.")
    ] = False,
) -> None:
    """Print a JSON Schema. The profile's is what editors complete from (yaml-language-server's modeline names it)."""
    if name is not None and name not in SCHEMAS:
        typer.echo(f'error: no schema is called "{name[:60]}"; known: {", ".join(SCHEMAS)}', err=True)
        raise typer.Exit(2)
    if not write:
        typer.echo(schema_text(name or "profile"), nl=False)
        return
    for each in [name] if name else SCHEMAS:
        path = folder() / f"{each}.schema.json"
        path.write_text(schema_text(each), encoding="utf-8")
        typer.echo(str(path))


def folder() -> Path:
    import appliance

    return next(place for parent in appliance.__path__ if (place := Path(parent, "schemas")).is_dir())


def schema_text(name: str) -> str:
    module, function = SCHEMAS[name].split(":")
    made: Callable[[], dict[str, Any]] = getattr(import_module(module), function)
    return json.dumps(made(), indent=2, ensure_ascii=False) + "\n"
