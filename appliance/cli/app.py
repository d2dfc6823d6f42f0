"""The command line: finds the command, imports only it, and turns every failure into an exit code.

0 fine, 1 findings, 2 cannot run, 3 a defect of the appliance itself (its traceback is in a log).
"""

import sys
from collections.abc import Sequence
from typing import NoReturn

import typer

from .. import __version__
from .commands import COMMANDS


def version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"appliance {__version__}")
        raise typer.Exit


def make_app(chosen: str | None) -> typer.Typer:
    """An app in which only `chosen` is imported; the others are there by name and help line."""
    app = typer.Typer(
        name="appliance",
        help="One YAML profile becomes a validated, planned, running language-model server.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback()
    def top(
        version: bool = typer.Option(False, "--version", callback=version, is_eager=True, help="Print the version."),
    ) -> None: ...

    def not_chosen() -> None: ...

    for name, command in COMMANDS.items():
        function = command.load() if name == chosen else not_chosen
        settings = {"ignore_unknown_options": command.any_option}
        app.command(name, short_help=command.help, context_settings=settings)(function)
    return app


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    from .failures import known_failure, unknown_failure

    words = list(sys.argv[1:] if arguments is None else arguments)
    chosen = next((word for word in words if not word.startswith("-")), None)
    try:
        try:
            make_app(chosen)(args=words, prog_name="appliance")
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        code = known_failure(error)
        sys.exit(unknown_failure(error) if code is None else code)
    sys.exit(0)
