"""A new text in place of an old one: all of it or nothing, and never over somebody else's edit."""

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from .source import Source


class NotWrittenError(Exception):
    """The file is as it was."""

    def __init__(self, fact: str, fix: str) -> None:
        super().__init__(fact)
        self.fact = fact
        self.fix = fix


CHANGED = "was changed by somebody else meanwhile; nothing is written"


def write(source: Source, text: str) -> None:
    """Raises NotWrittenError. A symbolic link stays one: the file it leads to gets the text."""
    data = text.encode(source.encoding)
    real = source.real
    try:
        before = real.stat()
        if not before.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH) or not os.access(real, os.W_OK):
            raise NotWrittenError("is read-only", "make it writable, or edit a copy")
        _replace(source, data, before)
    except PermissionError:
        fact = f"cannot be written: its folder {real.parent} is read-only"
        raise NotWrittenError(fact, "make the folder writable, or edit a copy") from None
    except OSError as error:
        raise NotWrittenError(f"cannot be written: {error.strerror}", "nothing was changed") from None


def _replace(source: Source, data: bytes, before: os.stat_result) -> None:
    real = source.real
    handle, name = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name}.", suffix=".new")
    new = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            _dress(file.fileno(), real, before)
            os.fsync(file.fileno())
        if real.read_bytes() != source.data or Path(source.path).resolve() != real:
            raise NotWrittenError(CHANGED, "run the command again")
        new.replace(real)
    finally:
        with suppress(FileNotFoundError):
            new.unlink()
    folder = os.open(real.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _dress(descriptor: int, real: Path, before: os.stat_result) -> None:
    """Owner first: changing it takes set-user-id bits away."""
    mine = os.fstat(descriptor)
    if (mine.st_uid, mine.st_gid) != (before.st_uid, before.st_gid):
        try:
            os.fchown(descriptor, before.st_uid, before.st_gid)
        except PermissionError:
            fact = f"belongs to user {before.st_uid}, group {before.st_gid}, which cannot be given to a new file"
            raise NotWrittenError(fact, "run the command as its owner") from None
    os.fchmod(descriptor, stat.S_IMODE(before.st_mode))
    for name in os.listxattr(real) if hasattr(os, "listxattr") else ():
        with suppress(OSError):
            os.setxattr(descriptor, name, os.getxattr(real, name))
