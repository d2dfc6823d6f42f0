"""`appliance plan FILE`: what a profile becomes on a machine, and why."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from appliance.plan import HardwareSnapshot, Plan


class Format(StrEnum):
    TEXT = "text"
    JSON = "json"


def plan(
    file: Annotated[Path, typer.Argument(help="The profile.", show_default=False)],
    hardware: Annotated[
        str, typer.Option(help="auto = this machine, a name (h100x8, cpu-16c-64g ...), or a saved snapshot's file.")
    ] = "auto",
    against: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE|running",
            help="Show what changes from the plan of this profile, or from what runs: live or not, and why.",
            show_default=False,
        ),
    ] = None,
    format: Annotated[Format, typer.Option(help="For people, or for machines.")] = Format.TEXT,
    all: Annotated[bool, typer.Option("--all", help="Also list fields that stand at their defaults.")] = False,
    save_hardware: Annotated[
        Path | None, typer.Option(help="Write the hardware snapshot to this file.", show_default=False)
    ] = None,
    state_dir: Annotated[
        Path | None, typer.Option(help="With --against running: its state folder.", show_default=False)
    ] = None,
) -> None:
    """Resolve every field of a profile on a machine, with reasons, without starting anything."""
    if against == Path("running"):
        against_running(file, hardware, state_dir, format)
        return
    from appliance.plan import diff_plans

    machine, forecast = find_hardware(hardware)
    if save_hardware is not None:
        save(machine, save_hardware)
    made = plan_file(file, machine, forecast)
    before = plan_file(against, machine, forecast) if against is not None else None
    if format is Format.JSON:
        if before is None:
            typer.echo(made.json(), nl=False)
        else:
            import msgspec

            typer.echo(msgspec.json.format(msgspec.json.encode(diff_plans(before, made)), indent=2))
        return
    from rich.console import Console

    from appliance.plan.text import print_changes, print_plan

    console = Console(highlight=False)
    if before is None:
        print_plan(made, console, all)
    else:
        print_changes(diff_plans(before, made), str(against), console)


def against_running(file: Path, hardware: str, state_dir: Path | None, format: Format) -> None:
    if hardware != "auto":
        typer.echo("error: --against running plans for the machine it runs on; leave --hardware out", err=True)
        raise typer.Exit(2)
    from .plan_running import plan_running

    plan_running(file, state_dir, format is Format.JSON)


def save(machine: "HardwareSnapshot", file: Path) -> None:
    from appliance.diagnostics import ApplianceError, Diagnostic, Position, Severity

    try:
        file.write_bytes(machine.dump())
    except OSError as error:
        fact, fix = f"{file} cannot be written: {error.strerror}", "name a file in a folder that you may write to"
        finding = Diagnostic("AP0411", Severity.ERROR, Position("--save-hardware"), "", fact, fix)
        raise ApplianceError([finding], exit_code=2) from error


def plan_file(file: Path, machine: "HardwareSnapshot", forecast: bool) -> "Plan":
    """ApplianceError for a profile with errors, a model that is not here, or a plan that does not fit."""
    from .offline import plan_offline, validate_offline
    from .show import show

    checked, profile = validate_offline(file)
    show(checked.diagnostics, file=sys.stderr)
    return plan_offline(file, checked, profile, machine, forecast)


def find_hardware(name: str) -> tuple["HardwareSnapshot", bool]:
    """(snapshot, is it another machine?)."""
    from appliance.diagnostics import ApplianceError, Diagnostic, Position, Severity
    from appliance.plan import MACHINES, HardwareSnapshot, probe

    if name == "auto":
        return probe(), False
    if name in MACHINES:
        return MACHINES[name], True
    message, fix = (
        f'"{name}" is not a machine of the catalogue',
        f"auto, a saved snapshot's file, or {', '.join(MACHINES)}",
    )
    if Path(name).is_file():
        try:
            return HardwareSnapshot.load(Path(name).read_bytes()), True
        except (OSError, ValueError) as error:
            message, fix = f"{name} holds no hardware snapshot: {error}", "save one with --save-hardware FILE"
    finding = Diagnostic("AP0411", Severity.ERROR, Position("--hardware"), "", message, fix)
    raise ApplianceError([finding], exit_code=2)
