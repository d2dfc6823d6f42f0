"""`appliance diff`: two texts of an appliance side by side."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .running import StateDir, ask, console, find, split_words

if TYPE_CHECKING:
    from appliance.supervise.admin_protocol import Texts
    from appliance.supervise.find import Found


def diff(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME A B",
            help="Which appliance; two of: a revision's number, running, file.",
            show_default=False,
        ),
    ] = None,
    state_dir: StateDir = None,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="1 when the texts differ.")] = False,
) -> None:
    """Show how two texts differ: what runs and the profile's file, or what runs and A, or A and B."""
    name, which = split_words(words or [], 2)
    a, b = {0: ("running", "file"), 1: (*which, "running"), 2: tuple(which)}[len(which)]
    found = find(name, state_dir)
    from appliance.supervise.history import text_diff

    from .history_text import diff_text

    texts = asked(found, a, b) if found.runs else read(found.folder, a, b)
    said = text_diff(texts.a.text, texts.b.text, texts.a.name, texts.b.name)
    if said:
        console().print(diff_text(said), soft_wrap=True)
    else:
        typer.echo(f"no difference between {texts.a.name} and {texts.b.name}")
    if said and exit_code:
        raise typer.Exit(1)


def asked(found: "Found", a: str, b: str) -> "Texts":
    from appliance.supervise.admin_protocol import Diff, Texts

    return ask(found, Diff(a=a, b=b), Texts)


def read(folder: Path, a: str, b: str) -> "Texts":
    """Where nothing runs, `running` is the last good revision."""
    from appliance.supervise.admin_answers import named_text
    from appliance.supervise.admin_protocol import Text, Texts
    from appliance.supervise.history_read import profile_of, read_history

    with read_history(folder) as history:
        good = history.last_good()

        def text(name: str) -> Text:
            if name == "file":
                return profile_of(folder)
            return named_text(history, good, name, "last good")

        return Texts(a=text(a), b=text(b))
