"""The first step: a file on disk -> its text, byte for byte, or why it has none."""

import os
import re
import stat
from bisect import bisect_right
from dataclasses import dataclass
from pathlib import Path

MAX_BYTES = 32 * 2**20
# encodings that begin with their byte order mark, which stays in the text as its first character
_MARKS = ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f]")


class UnreadableError(Exception):
    """No text that this program may edit."""

    def __init__(self, fact: str, fix: str = "") -> None:
        super().__init__(fact)
        self.fact = fact
        self.fix = fix


@dataclass(frozen=True)
class Source:
    """path: as it was named. real: where the bytes are, symbolic links followed."""

    path: str
    real: Path
    data: bytes
    text: str
    encoding: str

    @property
    def linked(self) -> bool:
        return Path(self.path).is_symlink()


def read(path: str) -> Source:
    """Raises UnreadableError."""
    try:
        with open(path, "rb", opener=_open) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise UnreadableError("is no regular file", "name a file")
            data = file.read(MAX_BYTES + 1)
        real = Path(path).resolve()
    except OSError as error:
        raise UnreadableError(f"cannot be read: {error.strerror}", "correct path or permissions") from None
    except ValueError:
        raise UnreadableError("cannot be read: its name holds a NUL", "correct it") from None
    text, encoding = decode(data)
    return Source(path, real, data, text, encoding)


def _open(path: str, flags: int) -> int:
    """Opening a pipe must not wait for somebody who writes to it."""
    return os.open(path, flags | os.O_NONBLOCK)


def decode(data: bytes) -> tuple[str, str]:
    """The text, and the encoding that gives back the same bytes. Raises UnreadableError."""
    if len(data) > MAX_BYTES:
        raise UnreadableError(f"is larger than {MAX_BYTES >> 20} MiB", "split it")
    marked = next((name for mark, name in _MARKS if data.startswith(mark)), None)
    try:
        text, encoding = data.decode(marked or "utf-8"), marked or "utf-8"
    except UnicodeDecodeError as error:
        if marked:
            raise UnreadableError(f"is no {marked.upper()} text, although it begins like one", "save it anew") from None
        if b"\0" in data[: 2**16]:
            raise UnreadableError("is a binary file") from None
        text, encoding = _single_bytes(data, error)
    if "\0" in text:
        raise UnreadableError("is a binary file")
    return text, encoding


def _single_bytes(data: bytes, error: UnicodeDecodeError) -> tuple[str, str]:
    """Text of an older encoding: a byte is a character, and what is edited is ASCII in all of them."""
    text = data.decode("latin-1")
    strange = sum(letter > "\x7f" for letter in text)
    if _CONTROL.search(text) or strange > len(text) // 3:
        line = data.count(b"\n", 0, error.start) + 1
        raise UnreadableError(f"is no text: byte 0x{data[error.start]:02x} in line {line} is not UTF-8", "save it anew")
    return text, "latin-1"


class Lines:
    """Offsets to lines and columns, both from 1."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]

    def at(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1
