"""A command's end of the admin channel."""

import socket
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

import msgspec

from appliance.diagnostics import ApplianceError, Position
from appliance.supervise.admin_protocol import ANSWERS, ENCODER, Answer, Doing, Failure, Progress, Request
from appliance.supervise.admin_socket import address
from appliance.supervise.errors import cannot_run
from appliance.supervise.history_records import Phase

ANSWER_SECONDS = 20.0
"""Within which a running appliance says something to what it can answer at once."""
Wanted = TypeVar("Wanted", bound=Answer)


class AdminClient:
    """`with AdminClient(folder, name) as client: client.ask(Status(), StatusAnswer)`."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, name

    def __enter__(self) -> Self:
        """ApplianceError AP0902 when nothing runs in the folder, AP0905 when this user may not ask."""
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.settimeout(ANSWER_SECONDS)
            with address(self._folder) as path:
                connection.connect(path)
        except PermissionError as error:
            connection.close()
            fact = f"this user may not ask the appliance in {self._folder}"
            raise cannot_run(Position(self._name), "AP0905", fact, "use the user that runs it") from error
        except (FileNotFoundError, NotADirectoryError, ConnectionRefusedError) as error:
            connection.close()
            raise not_running(self._name, self._folder) from error
        except OSError as error:
            connection.close()
            raise self._broke(str(error.strerror or error)) from error
        self._connection = connection
        self._lines = connection.makefile("rb")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._lines.close()
        self._connection.close()

    def ask(
        self,
        request: Request,
        answer: type[Wanted],
        told: Callable[[Phase | str], None] | None = None,
        seconds: float | None = ANSWER_SECONDS,
    ) -> Wanted:
        """`told` gets the phases that come before the answer, and what lasts; seconds None = as long as it takes.

        Raises the ApplianceError that the other side raised, or AP0905.
        """
        self._connection.settimeout(seconds)
        try:
            self._connection.sendall(ENCODER.encode(request) + b"\n")
            while line := self._lines.readline():
                found = ANSWERS.decode(line)
                if isinstance(found, Progress | Doing):
                    if told is not None:
                        told(found.phase if isinstance(found, Progress) else found.text)
                elif isinstance(found, Failure):
                    raise ApplianceError(list(found.diagnostics), found.exit_code, list(found.notes))
                elif isinstance(found, answer):
                    return found
                else:
                    raise self._broke(f"it answered with {type(found).__name__}")
        except TimeoutError as error:
            raise self._broke(f"it said nothing within {seconds:g} s") from error
        except OSError as error:
            raise self._broke(str(error.strerror or error)) from error
        except msgspec.MsgspecError as error:
            raise self._broke(f"its answer is of another version: {error}") from error
        raise self._broke("it ended during the call")

    def _broke(self, what: str) -> ApplianceError:
        fact = f"the appliance in {self._folder} runs, but: {what}"
        return cannot_run(Position(self._name), "AP0905", fact, "look at the output of its appliance up")


def not_running(name: str, folder: Path) -> ApplianceError:
    fact = f"no appliance named {name} runs (nothing answers in {folder})"
    return cannot_run(Position(name), "AP0902", fact, "start it with: appliance up FILE")
