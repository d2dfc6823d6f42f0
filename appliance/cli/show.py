"""Diagnostics for people: one line each as it stands in logs, with the line of the file below it."""

import shutil
import sys
import textwrap
from collections.abc import Iterable
from typing import IO

from ..diagnostics import Diagnostic
from .snippet import snippet

COLOURS = {"error": "bold red", "warning": "yellow", "note": "cyan"}


def show(diagnostics: Iterable[Diagnostic], file: IO[str] | None = None) -> None:
    """On a terminal wrapped to its width and coloured; elsewhere one unbroken line per diagnostic."""
    out = file or sys.stdout
    if out.isatty():
        _show_on_terminal(list(diagnostics), out)
        return
    for diagnostic in diagnostics:
        print(diagnostic, file=out)
        if shown := snippet(diagnostic.position, 120):
            print(_margin(diagnostic) + shown[0], _margin(None, diagnostic) + shown[1], sep="\n", file=out)


def _margin(diagnostic: Diagnostic | None, like: Diagnostic | None = None) -> str:
    """Line number and rule before a line of the file; of the caret line where there is no diagnostic."""
    number = str((diagnostic or like).position.line)  # type: ignore[union-attr]
    return f"{number if diagnostic else '':>{max(6, len(number) + 2)}} │ "


def _show_on_terminal(diagnostics: list[Diagnostic], out: IO[str]) -> None:
    from rich.console import Console
    from rich.text import Text

    width = min(shutil.get_terminal_size().columns, 100)
    console = Console(file=out, width=width, highlight=False)
    for diagnostic in diagnostics:
        colour = COLOURS[diagnostic.severity]
        lines = textwrap.wrap(str(diagnostic), width, subsequent_indent="    ", break_on_hyphens=False)
        text = Text("\n".join(lines))
        text.highlight_words([f"{diagnostic.code} {diagnostic.severity}"], colour)
        console.print(text, soft_wrap=True)
        if shown := snippet(diagnostic.position, width - 10):
            console.print(Text.assemble((_margin(diagnostic), "dim"), shown[0]), soft_wrap=True)
            console.print(Text.assemble((_margin(None, diagnostic), "dim"), (shown[1], colour)), soft_wrap=True)
