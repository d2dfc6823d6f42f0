"""Asks our own server whether it can serve."""

import asyncio
import http.client
import json
import socket
from dataclasses import dataclass

POLL_SECONDS = 0.05
TIMEOUT_SECONDS = 5.0


@dataclass(frozen=True)
class Readiness:
    ready: bool
    reason: str
    engine: bool
    """The engine itself has produced a token; what is missing is something else."""
    checks: tuple[tuple[str, str], ...] = ()
    """What was tried, and what came out."""


def ask(address: tuple[str, int]) -> Readiness:
    """Raises nothing: a server that cannot be asked is not ready, and the reason says why."""
    connection = http.client.HTTPConnection(*address, timeout=TIMEOUT_SECONDS)
    try:
        connection.request("GET", "/ready")
        response = connection.getresponse()
        answer = json.loads(response.read())
        checks = answer.get("checks", {})
        told = tuple((str(name), str(check.get("detail", ""))) for name, check in checks.items())
        engine = checks.get("engine", {}).get("ok", False)
        return Readiness(response.status == 200, str(answer.get("reason", "")), bool(engine), told)
    except (OSError, http.client.HTTPException, ValueError, AttributeError) as error:
        return Readiness(False, str(error), False)
    finally:
        connection.close()


def local_address(listener: socket.socket) -> tuple[str, int]:
    """Where this machine reaches the socket: a wildcard through the loopback."""
    host, port = listener.getsockname()[:2]
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host), port


async def poll(address: tuple[str, int]) -> Readiness:
    """One question, after a short pause."""
    await asyncio.sleep(POLL_SECONDS)
    return await asyncio.to_thread(ask, address)
