"""Reading an API key: validation and the server take the same text for the key, and refuse the same."""

import stat
from pathlib import Path

LONGEST = 4096
"""Bytes of a key; a request's headers have to carry it."""


class UnusableKeyError(Exception):
    """`fact` and `fix` hold nothing of the key."""

    def __init__(self, fact: str, fix: str) -> None:
        super().__init__(f"{fact}; {fix}")
        self.fact, self.fix = fact, fix


def from_variable(name: str, value: str | None) -> str:
    where = f"the environment variable {name}"
    if value is None:
        raise UnusableKeyError(
            f"{where} is not set", "set it where the appliance is started, or name a file: {file: PATH}"
        )
    if not value.strip():
        raise UnusableKeyError(f"{where} is empty", "put the key in it")
    return _usable(where, value)


def from_file(name: str) -> str:
    """The first line. A pipe or a device is not opened: it would answer once, never, or without end."""
    path = Path(name)
    try:
        if not stat.S_ISREG(path.stat().st_mode) and not path.is_dir():
            raise UnusableKeyError(f"{name} is not a regular file", "write the key into one")
        with path.open("rb") as file:
            line = file.readline(LONGEST + 1)
    except OSError as error:
        raise UnusableKeyError(f"{name} cannot be read: {error.strerror}", "correct path or permissions") from None
    if not line.strip():
        raise UnusableKeyError(f"the first line of {name} is empty", "write the key on it")
    try:
        return _usable(f"the first line of {name}", line.decode())
    except UnicodeDecodeError:
        raise UnusableKeyError(f"the first line of {name} is not UTF-8", "write the key as text") from None


def _usable(where: str, text: str) -> str:
    key = text.strip()
    if len(key.encode()) > LONGEST:
        raise UnusableKeyError(f"{where} is longer than {LONGEST} bytes", "write the key alone")
    if not key.isprintable():
        raise UnusableKeyError(f"{where} holds characters that no header carries", "write one line of printable text")
    return key
