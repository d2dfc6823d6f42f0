"""The address of an appliance's admin socket, which always lies in its state folder."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from appliance.diagnostics import Position
from appliance.supervise.admin_protocol import SOCKET
from appliance.supervise.errors import cannot_run
from appliance.supervise.folder import SOCKET_PATH_BYTES

DESCRIPTORS = Path("/proc/self/fd")


@contextlib.contextmanager
def address(folder: Path) -> Iterator[str]:
    """A path to bind or connect to. One too long for the system goes through the descriptor of its folder.

    OSError when there is no such folder, ApplianceError AP0908 where the system has no other way.
    """
    plain = folder / SOCKET
    if len(os.fsencode(plain)) <= SOCKET_PATH_BYTES:
        yield str(plain)
        return
    if not DESCRIPTORS.is_dir():
        fact = f"the path {plain} is too long for a socket on this system"
        raise cannot_run(Position(str(folder)), "AP0908", fact, "name a shorter folder with --state-dir")
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield str(DESCRIPTORS / str(handle) / SOCKET)
    finally:
        os.close(handle)
