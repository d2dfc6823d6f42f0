"""Can the server listen where the profile says?"""

import errno
import socket
from collections.abc import Iterator

from ...diagnostics import Diagnostic
from ...profile.types import host_port
from ..facts import Facts


def free(facts: Facts) -> Iterator[Diagnostic]:
    bind = facts.profile.security.bind
    host, port = host_port(bind)
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tried.bind(address)
    except (socket.gaierror, UnicodeError):
        yield facts.error("AP0308", "security.bind", f"this machine does not know the host {host}", "write an address")
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            fact = f"{bind} is in use; fine where this appliance runs already"
            yield facts.warning("AP0309", "security.bind", fact, "stop the other program, or choose another port")
        else:
            yield facts.error("AP0308", "security.bind", f"cannot listen on {bind}: {error.strerror}", "choose another")
