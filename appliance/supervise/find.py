"""Which appliance a command means: by the name of its profile, by its state folder, or because it is the only one."""

import contextlib
import socket
from dataclasses import dataclass
from pathlib import Path

from appliance.diagnostics import ApplianceError, Position
from appliance.supervise.admin_protocol import SOCKET
from appliance.supervise.admin_socket import address
from appliance.supervise.errors import cannot_run
from appliance.supervise.folder import StateFolder, default_folder
from appliance.supervise.history import FILE

LEFT_BEHIND = (FILE, SOCKET, "status.json", "lock")


@dataclass(frozen=True)
class Found:
    name: str
    folder: Path
    runs: bool


def find(name: str | None, state_dir: Path | None) -> Found:
    """ApplianceError AP0902 where there is neither an appliance nor a folder of one, or `state_dir` is that of an
    appliance with another name; AP0903 where there are several."""
    if state_dir is not None:
        folder = state_dir.expanduser().absolute()
        own = StateFolder(folder, Position(str(folder))).name
        if name not in (None, own, folder.name) and _used(folder):
            fact = f"the state folder {folder} belongs to {own}, not to {name}"
            raise cannot_run(Position(str(name)), "AP0902", fact, f"name {own}, or leave the name out")
        return _existing(name or own, folder)
    if name is not None:
        return _named(name)
    known = everyone()
    candidates = [found for found in known if found.runs] or known
    if len(candidates) == 1:
        return candidates[0]
    if not candidates:
        fact = f"no appliance runs, and none ever ran with a state folder below {default_folder('x').parent}"
        raise cannot_run(Position("appliance"), "AP0902", fact, "start one with: appliance up FILE")
    names = ", ".join(found.name for found in candidates)
    how = "run" if candidates[0].runs else "ran here and none runs now"
    fix = f"name one of them: {names}"
    raise cannot_run(Position("appliance"), "AP0903", f"{len(candidates)} appliances {how}", fix)


def everyone() -> list[Found]:
    """Every appliance with a folder in the usual place, by the folder's name."""
    base = default_folder("x").parent
    with contextlib.suppress(OSError):
        return [_found(path) for path in sorted(base.iterdir()) if _used(path)]
    return []


def _found(folder: Path) -> Found:
    """One that runs has the name its profile gives it now, which an edit may have changed since the folder was made."""
    runs = is_running(folder)
    return Found(StateFolder(folder, Position(str(folder))).name if runs else folder.name, folder, runs)


def _named(name: str) -> Found:
    own = default_folder(name)
    if not is_running(own):
        renamed = next((found for found in everyone() if found.runs and found.name == name), None)
        if renamed is not None:
            return renamed
    return _existing(name, own)


def is_running(folder: Path) -> bool:
    with contextlib.suppress(OSError, ApplianceError), socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(1.0)
        with address(folder) as path:
            connection.connect(path)
        return True
    return False


def _existing(name: str, folder: Path) -> Found:
    if not _used(folder):
        fact = f"no appliance named {name} runs: there is no state folder {folder}"
        raise cannot_run(Position(name), "AP0902", fact, _known() or "start it with: appliance up FILE")
    return Found(name, folder, is_running(folder))


def _known() -> str:
    names = ", ".join(found.name for found in everyone() if found.runs)
    return f"running now: {names}" if names else ""


def _used(folder: Path) -> bool:
    return any((folder / part).exists() for part in LEFT_BEHIND)
