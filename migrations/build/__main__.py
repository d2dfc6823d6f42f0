"""`python -m appliance.migrations.build --release 0.34.0`: downloads that wheel and merges it into the catalogue."""

import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from appliance.migrations.build.fetch import FetchError, fetch
from appliance.migrations.build.history import decode, encode
from appliance.migrations.build.release_facts import read_release
from appliance.migrations.catalogue import PATH


def build(
    release: Annotated[list[str], typer.Option(help="A release to read; give it again for more.")],
    sources: Annotated[Path | None, typer.Option(help="Folder that keeps the downloaded sources.")] = None,
) -> None:
    """Reads the named engine releases and writes them into the option catalogue."""
    console = Console()
    facts = decode(PATH.read_text()) if PATH.exists() else {}
    with tempfile.TemporaryDirectory(prefix="engine-sources-") as scratch:
        for name in release:
            try:
                facts[name] = read_release(fetch(name, sources or Path(scratch)))
            except (FetchError, LookupError) as error:
                console.print(f"[red]{error}[/red]")
                raise typer.Exit(2) from None
            console.print(f"{name}: {len(facts[name].options)} options, {len(facts[name].env)} variables")
    PATH.write_text(encode(facts))
    console.print(f"{PATH}: {len(facts)} releases, {PATH.stat().st_size // 1024} KiB")


if __name__ == "__main__":
    typer.run(build)
