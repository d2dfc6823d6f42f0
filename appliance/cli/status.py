"""`appliance status`: what runs, since when, and whether it is what the operator wants."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .running import Name, StateDir, ask, console, find, print_json

if TYPE_CHECKING:
    from appliance.supervise.find import Found
    from appliance.supervise.status import ApplianceStatus


class Format(StrEnum):
    TEXT = "text"
    JSON = "json"


def status(
    name: Name = None,
    state_dir: StateDir = None,
    exit_code: Annotated[
        bool,
        typer.Option(
            "--exit-code",
            help="Tell by the exit code: 0 ready and in sync, 1 starting, degraded, draining, out of sync or invalid, "
            "2 not running.",
        ),
    ] = False,
    format: Annotated[Format, typer.Option(help="For people, or for machines.")] = Format.TEXT,
) -> None:
    """Say what runs, since when, and whether it is what the profile says. Several that run are listed."""
    several = running_ones() if name is None and state_dir is None and format is Format.TEXT else []
    found = several if len(several) > 1 else [find(name, state_dir)]
    told = [status_of(one) for one in found]
    show(told, format)
    if exit_code:
        raise typer.Exit(max(one.exit_code for one in told))


def running_ones() -> "list[Found]":
    from appliance.supervise.find import everyone

    return [found for found in everyone() if found.runs]


def status_of(found: "Found") -> "ApplianceStatus":
    """Of the appliance itself; of its folder where nothing runs."""
    if not found.runs:
        return stopped(found.name, found.folder)
    from appliance.supervise.admin_protocol import Status, StatusAnswer

    return ask(found, Status(), StatusAnswer).status


def stopped(name: str, folder: Path) -> "ApplianceStatus":
    from appliance.supervise.admin_answers import without_texts
    from appliance.supervise.history_read import read_history
    from appliance.supervise.status import ApplianceStatus

    with read_history(folder) as history:
        good, newest = history.last_good(), history.list(1)
        reasons = [f"revision {good.number} ({good.hash}) was the last good one"] if good else []
        reasons += [f"revision {left.number} was being tried when it ended" for left in history.unfinished()]
        return ApplianceStatus(
            name=name,
            state="stopped",
            reasons=tuple(reasons),
            state_folder=str(folder),
            last_reload=without_texts(newest[0]) if newest else None,
            pin=history.pinned,
            history=history.health(),
        )


def show(told: "list[ApplianceStatus]", format: Format) -> None:
    if format is Format.JSON:
        print_json(told[0])
        return
    from .status_text import print_list, print_status

    if len(told) > 1:
        print_list(told, console())
    else:
        print_status(told[0], console())
