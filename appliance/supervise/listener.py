"""The listening socket. The supervisor owns it from before the first boot to the end; servers inherit it."""

import errno
import socket
from typing import Any

from appliance.diagnostics import Position
from appliance.supervise.errors import cannot_run

BACKLOG = 2048


def split(bind: str) -> tuple[str, int]:
    """`127.0.0.1:8000`, `[::1]:8000` -> host, port. ValueError otherwise."""
    host, colon, port = bind.rpartition(":")
    if not colon or not host or not port.isdecimal() or int(port) > 65535:
        raise ValueError(bind)
    return host.removeprefix("[").removesuffix("]"), int(port)


def listen(bind: str, position: Position, path: str = "security.bind", instead: str = "--bind ") -> socket.socket:
    """ApplianceError AP0601 when the address cannot be had. `instead`: what another one is written behind."""
    try:
        host, port = split(bind)
    except ValueError as error:
        fact = f'"{bind}" is not an address'
        raise cannot_run(position, "AP0601", fact, "write HOST:PORT, such as 127.0.0.1:8000", path) from error
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        fact = f"{host} is not an address of this machine: {error.strerror}"
        raise cannot_run(position, "AP0601", fact, "bind 127.0.0.1, or 0.0.0.0 for every address", path) from error
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            fact = f"port {port} on {host} is in use{_holder(port)}"
            fix = f"stop that process, or take another port: {instead}{host}:{port + 1 if port < 65535 else 0}"
        else:
            fact = f"cannot listen on {bind}: {error.strerror}"
            fix = "choose a port above 1023" if error.errno == errno.EACCES else "choose an address of this machine"
        raise cannot_run(position, "AP0601", fact, fix, path) from error
    return listener


def url(listener: socket.socket) -> str:
    """The address a client on this machine uses; a wildcard is reached through the loopback."""
    host, port = listener.getsockname()[:2]
    here = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{here}]:{port}" if ":" in here else f"http://{here}:{port}"


def _holder(port: int) -> str:
    """` by NAME (process N)` where this user may see it; of a family that shares the socket, the eldest."""
    import psutil

    def listens(connection: Any) -> bool:
        return connection.status == psutil.CONN_LISTEN and bool(connection.laddr) and connection.laddr.port == port

    try:
        pid = next((found.pid for found in psutil.net_connections("tcp") if listens(found) and found.pid), None)
        if pid is None:
            return ""
        process = psutil.Process(pid)
        while (parent := process.parent()) and any(map(listens, parent.net_connections("tcp"))):
            process = parent
        return f" by {process.name()} (process {process.pid})"
    except psutil.Error:
        return ""
