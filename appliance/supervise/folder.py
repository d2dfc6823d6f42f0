"""The state folder of one running appliance: a lock, a status file, and a place for sockets."""

import contextlib
import json
import os
import shutil
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

from filelock import FileLock, Timeout

from appliance.diagnostics import Position
from appliance.supervise.errors import cannot_run

SOCKET_PATH_BYTES = 107
"""sun_path of Linux holds 108 bytes with the closing zero; a socket's own name takes up to 24 of them."""
OTHER = "name another folder with --state-dir"


def default_folder(profile_name: str) -> Path:
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "appliance" / profile_name


class StateFolder:
    """Ours alone from `with` to its end."""

    def __init__(self, path: Path, position: Position, name: str | None = None) -> None:
        """`name`: of the appliance, where it is known already."""
        self.path = path.expanduser().absolute()
        self._name = name
        self._position = position
        self._lock = FileLock(self.path / "lock", timeout=0)
        self._runtime: Path | None = None
        self._taken: tuple[int, int] | None = None

    def __enter__(self) -> Self:
        """ApplianceError AP0602 when another appliance runs in it, AP0603 when it cannot be used."""
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock.acquire()
            self._taken = self._identity()
        except Timeout as error:
            holder = self.read().get("pid")
            by = f" by process {holder}" if holder else ""
            fact = f"the state folder {self.path} is in use{by}"
            fix = f"stop the other one, or {OTHER}"
            raise cannot_run(self._position, "AP0602", fact, fix, "name") from error
        except OSError as error:
            fact = f"the state folder {self.path} cannot be used: {error.strerror or error}"
            raise cannot_run(self._position, "AP0603", fact, OTHER) from error
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._runtime and not self.gone:
            shutil.rmtree(self._runtime, ignore_errors=True)
        self._lock.release()

    @property
    def name(self) -> str:
        """Of the appliance; the folder's own where none ever told."""
        name = self._name or self.read().get("name")
        return name if isinstance(name, str) and name else self.path.name

    @property
    def gone(self) -> bool:
        """Somebody removed it; what stands there now may be another appliance's."""
        return self._taken is not None and self._taken != self._identity()

    def _identity(self) -> tuple[int, int] | None:
        try:
            found = (self.path / "lock").stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    @property
    def runtime(self) -> Path:
        """A private folder whose path leaves a socket's name enough room; it goes with us."""
        if self._runtime is None:
            near = self.path / "run"
            if len(os.fsencode(near)) + 25 <= SOCKET_PATH_BYTES:
                shutil.rmtree(near, ignore_errors=True)
                near.mkdir(mode=0o700)
                self._runtime = near
            else:
                self._runtime = Path(tempfile.mkdtemp(prefix="appliance-"))
        return self._runtime

    def read(self) -> dict[str, object]:
        """The status that the last owner wrote; empty when there is none."""
        with contextlib.suppress(OSError, ValueError):
            status = json.loads((self.path / "status.json").read_text())
            if isinstance(status, dict):
                return status
        return {}

    def write(self, **status: object) -> None:
        """A full disk leaves the last one as it was: running does not depend on it, and history says what is wrong."""
        if self.gone:
            return
        part = self.path / "status.json.part"
        with contextlib.suppress(OSError):
            part.write_text(json.dumps(status))
            part.replace(self.path / "status.json")
