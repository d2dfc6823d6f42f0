"""The history of an appliance that does not run, for looking only: a copy is opened, the folder stays as it is."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from appliance.diagnostics import Position
from appliance.supervise.admin_protocol import Text
from appliance.supervise.errors import cannot_run
from appliance.supervise.folder import StateFolder
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
                fact = f"{folder / FILE} cannot be read: {health.damage or health.detail}"
                fix = "the next appliance up moves it aside and begins a new one"
                raise cannot_run(Position(str(folder)), "AP0906", fact, fix)
            yield history
        finally:
            history.close()


def profile_of(folder: Path) -> Text:
    """The file that the last `appliance up` was given. ApplianceError AP0906 when it is not known or not readable."""
    name = StateFolder(folder, Position(str(folder))).read().get("profile")
    fix = "name two revisions, as in: appliance diff 3 5"
    if not isinstance(name, str):
        raise cannot_run(
            Position(str(folder)), "AP0906", "it is not known which file the appliance was started with", fix
        )
    try:
        return Text(name=name, text=Path(name).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise cannot_run(Position(name), "AP0906", f"the profile cannot be read: {error}", fix) from error
