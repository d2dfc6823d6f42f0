"""What a watched file holds, as a fingerprint, and what became of it."""

import hashlib
import os
import stat
import time
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

LARGEST = 64 << 20
"""Bytes of a file that are compared; profiles, keys and templates are far smaller."""
STILL_NS = 2_000_000_000
"""Nanoseconds since the last write until the times are believed: clocks of file systems are coarse."""


class What(StrEnum):
    CHANGED = "changed"
    REMOVED = "removed"
    RETURNED = "returned"
    UNREADABLE = "unreadable"


@dataclass(frozen=True)
class Change:
    source: str
    """The name that the path was given: `file`, `secret` ..."""
    path: Path
    what: What
    detail: str = ""
    """Why a file is unreadable."""


@dataclass(frozen=True)
class Content:
    """`digest` is None where there is no readable file; `error` then says why, empty = nothing is there."""

    digest: bytes | None
    error: str = ""
    signature: tuple[int, ...] = ()
    """Device, inode, size and times: equal ones mean that nobody wrote. Empty for a file written only just now."""


def look(path: Path, before: Content | None = None) -> Content:
    """Follows links. A pipe or a device is not opened. Reads only where the file is another than `before`."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return Content(None, "not a regular file")
        signature = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        if before is not None and before.signature == signature:
            return before
        still = time.time_ns() - status.st_ctime_ns > STILL_NS
        with path.open("rb") as file:
            return Content(_digest(file.fileno()), "", signature if still else ())
    except (FileNotFoundError, NotADirectoryError):
        return Content(None)
    except OSError as error:
        return Content(None, error.strerror or str(error))


def compare(source: str, path: Path, before: Content, now: Content) -> Change | None:
    if now.digest is None:
        if (before.digest, before.error) == (None, now.error):
            return None
        return Change(source, path, What.UNREADABLE if now.error else What.REMOVED, now.error)
    if before.digest is None:
        return Change(source, path, What.RETURNED)
    return Change(source, path, What.CHANGED) if before.digest != now.digest else None


def _digest(handle: int) -> bytes:
    found, left = hashlib.sha256(), LARGEST
    while left > 0 and (chunk := os.read(handle, min(left, 1 << 20))):
        found.update(chunk)
        left -= len(chunk)
    return found.digest()
