"""The user's cache folder: where pulled models lie, who may write, and whether there is room."""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from appliance.diagnostics import Position
from appliance.source.base import Want, refuse

FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
MOVE = "free some space, or set APPLIANCE_CACHE to a folder on a larger disk"


def root() -> Path:
    """APPLIANCE_CACHE, or `appliance` in the platform's cache folder."""
    given = os.environ.get("APPLIANCE_CACHE")
    if given:
        return Path(given).expanduser().absolute()
    from platformdirs import user_cache_path

    return user_cache_path("appliance")


@contextmanager
def writing(folder: Path, want: Want) -> Iterator[None]:
    """Creates `folder` and holds its lock, so that two pulls of one model do the work once; OSErrors become AP0505."""
    from filelock import FileLock, Timeout

    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / ".lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            want.progress.note("another pull of this model is running; waiting for it")
            lock.acquire()
        with lock:
            yield
    except OSError as error:
        refuse_os_error(error, folder, want.position)


def refuse_os_error(error: OSError, folder: Path, position: Position) -> None:
    if error.errno in FULL:
        refuse(position, "AP0505", f"the cache folder {folder} is full: {error.strerror}", MOVE)
    fix = "change its permissions, or set APPLIANCE_CACHE"
    refuse(position, "AP0505", f"cannot write to the cache folder {folder}: {error.strerror or error}", fix)


def require_space(folder: Path, needed: int, position: Position) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed:
        fact = f"the cache folder {folder} has {free / 1e6:,.1f} MB free, {needed / 1e6:,.1f} MB are needed"
        refuse(position, "AP0505", fact, MOVE)


def publish(part: Path, final: Path) -> None:
    """Makes a complete file visible under its name: on disk first, then renamed, then the folder on disk."""
    with part.open("rb") as file:
        os.fsync(file.fileno())
    part.replace(final)
    folder = os.open(final.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
