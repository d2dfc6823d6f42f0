"""The history of an appliance that does not run, for looking only: a copy is opened, the folder stays as it is."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from appliance.diagnostics import Position
from appliance.supervise.errors import cannot_run
from appliance.supervise.history import FILE, History


@contextmanager
def read_history(folder: Path) -> Iterator[History]:
    """Empty where none was begun. ApplianceError AP0906 when it cannot be read."""
    with tempfile.TemporaryDirectory(prefix="appliance-") as copy:
        path = Path(copy) / FILE
        try:
            for part in ("", "-wal"):
                if (folder / f"{FILE}{part}").exists():
                    shutil.copyfile(folder / f"{FILE}{part}", f"{path}{part}")
        except OSError as error:
            fact = f"{folder / FILE} cannot be read: {error.strerror}"
            raise cannot_run(Position(str(folder)), "AP0906", fact, "use the user that runs the appliance") from error
        history = History(path)
        try:
            health = history.health()
            if health.state != "fine":
                fact = f"{folder / FILE} cannot be read: {health.detail}"
                fix = "the next appliance up moves it aside and begins a new one"
                raise cannot_run(Position(str(folder)), "AP0906", fact, fix)
            yield history
        finally:
            history.close()
