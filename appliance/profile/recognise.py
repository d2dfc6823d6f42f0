"""Is this text a profile? Asked of every file, so that the answer needs nothing else of the appliance."""

import re
from pathlib import Path

_PROFILE = re.compile(r"^schema[ \t]*:", re.MULTILINE)
BEGINNING = 2**16
"""Characters in which the first key has to come."""


def is_profile(text: str) -> bool:
    """By its first key, which nothing else has."""
    return _PROFILE.search(text, 0, BEGINNING) is not None


def is_profile_file(path: str) -> bool:
    """False where it cannot be read."""
    try:
        if not Path(path).is_file():
            return False
        with Path(path).open("rb") as file:
            return is_profile(file.read(BEGINNING).decode("utf-8-sig", "ignore"))
    except (OSError, ValueError):
        return False
