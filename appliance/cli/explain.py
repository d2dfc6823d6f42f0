"""`appliance explain CODE|FIELD|OPTION`: the page of a code, what a field means, what became of an option."""

import textwrap
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ..diagnostics import Code
    from ..profile.fields import Declared

WIDTH = 80
RELOADS = {
    "live": "live: an edit takes effect without interruption",
    "reconfigure": "reconfigure: the running engine takes an edit between two steps (backend vllm needs a new one)",
    "engine": "engine: an edit needs a new engine",
    "listener": "listener: an edit needs a new listening socket",
}


def explain(
    topic: Annotated[
        str | None,
        typer.Argument(
            help="A code (AP0101), a field (kv_cache.dtype), an engine option (--swap-space) or variable.",
            show_default=False,
        ),
    ] = None,
    option: Annotated[
        str | None, typer.Option(help="An engine option and nothing else of that name.", show_default=False)
    ] = None,
) -> None:
    """Print the page of a code, what a field of the profile means, or what became of an engine option."""
    if (option is None) == (topic is None):
        unknown("wants one topic", "name a code, a field of the profile or an engine option")
    if option is not None:
        from .explain_option import print_history

        if not option.strip("-. ") or not print_history(option, False):
            unknown(f'no release of the engine knows an option "{option[:60]}"', "")
        return
    assert topic is not None
    if not topic.strip("-. "):
        refuse(topic)
    if topic[:2].upper() in ("AP", "VM") and topic[2:].isdigit():
        print_code(topic)
        return
    from ..profile.fields import all_fields
    from ..profile.nearest import elsewhere

    named = topic.strip("-.") in all_fields()
    path = topic.strip("-.") if named else elsewhere(topic)
    if path is not None:
        print_field(all_fields()[path])
    if named or not topic.strip("-."):
        return
    from .explain_option import print_history

    if not print_history(topic, path is not None) and path is None:
        refuse(topic)


def print_code(code: str) -> None:
    from ..codes import every, find
    from ..profile.nearest import nearest

    page = find(code)
    if page is None:
        near = nearest(code.upper(), every())
        unknown(f"{code.upper()} is no code of this appliance", f"did you mean {near}?" if near else "")
    else:
        print_page(page)


def print_page(page: "Code") -> None:
    title = textwrap.fill(f"{page.code}  {page.title}", WIDTH, subsequent_indent=" " * 8, break_on_hyphens=False)
    typer.echo(typer.style(title, bold=True))
    for text in (*page.meaning.split("\n\n"), f"What to do: {page.way_out}"):
        typer.echo("\n" + "\n".join(map(paragraph, text.splitlines())))
    if page.example:
        lines = [line for line in page.example.splitlines() if not line.startswith("```")]
        typer.echo("\n" + textwrap.indent("\n".join(lines), "    "))


def print_field(field: "Declared") -> None:
    from ..profile.fields import all_fields
    from ..profile.values import default, values
    from ..validate.not_yet import NOT_YET

    typer.echo(typer.style(field.path, bold=True))
    typer.echo("\n" + paragraph(field.info.description or ""))
    if not field.reload:
        inside = [path for path in all_fields() if path.startswith((f"{field.path}.", f"{field.path}[]."))]
        typer.echo("\n" + "\n".join(f"    {path}" for path in inside))
        return
    first = default(field)
    facts = {
        "values": values(field),
        "default": first or "none, it must be written",
        "unit": str(field.extra.get("x-unit", "")),
        "reload": RELOADS[field.reload],
        "option": f"--{field.option} of `vllm serve`" if field.option else "",
        "since": f"release {field.extra['x-since']}",
        "not yet": next((f"{item.part}; {item.instead}" for item in NOT_YET if item.path == field.path), ""),
    }
    typer.echo()
    for name, said in facts.items():
        if said:
            typer.echo(textwrap.fill(f"{name:8} {said}", WIDTH, initial_indent="    ", subsequent_indent=" " * 13))


def paragraph(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_on_hyphens=False)


def refuse(topic: str) -> None:
    from ..profile.fields import all_fields
    from ..profile.nearest import nearest

    near = nearest(topic, all_fields()) or nearest(topic, [path.rpartition(".")[2] for path in all_fields()])
    unknown(f'"{topic[:60]}" is no code, field or option of this appliance', f"did you mean {near}?" if near else "")


def unknown(fact: str, fix: str) -> None:
    typer.echo(f"error: {fact}" + (f"; {fix}" if fix else ""), err=True)
    raise typer.Exit(2)
