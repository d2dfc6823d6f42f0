"""Engine releases: reading, ordering, and the nearest one the catalogue knows."""

import re
from typing import NamedTuple

_VERSION = re.compile(r"v?(\d+)\.(\d+)(?:\.(\d+))?(?:[.\-+_]?(?:post|rc|dev|a|b)?\d*.*)?\Z")


class Release(NamedTuple):
    """A release number; `0.32` and `0.32.0` are the same release."""

    major: int
    minor: int
    patch: int = 0

    @classmethod
    def parse(cls, text: str) -> "Release | None":
        """None when the text is no version, as in `latest` or a commit tag."""
        found = _VERSION.match(text.strip())
        if found is None:
            return None
        major, minor, patch = found.groups()
        return cls(int(major), int(minor), int(patch or 0))

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"

    @property
    def short(self) -> str:
        """`0.32` for `0.32.0`, `0.10.2` otherwise: how people name a release."""
        return f"{self.major}.{self.minor}" if self.patch == 0 else str(self)


def release(text: str) -> Release:
    """Raises ValueError when `text` is no version."""
    found = Release.parse(text)
    if found is None:
        raise ValueError(f"{text!r} is not a release; write one like 0.32 or 0.10.2")
    return found
