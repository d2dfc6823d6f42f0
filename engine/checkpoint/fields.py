"""Typed access to foreign trees: every surprise becomes a CheckpointError that names file, key and seen value."""

import json
import math
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .errors import CheckpointError

LARGEST_JSON = 64 * 1024 * 1024
LARGEST_INTEGER = 2**31
CORRECT = "fetch the file again, or correct it there"


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object in `path`; CheckpointError where it is missing, too large, not JSON or not an object."""
    try:
        size = regular_size(path)
        if size > LARGEST_JSON:
            raise CheckpointError(str(path), f"has {size:,} bytes, more than a JSON header may have ({LARGEST_JSON:,})")
        text = path.read_bytes()
    except OSError as error:
        raise CheckpointError(str(path), f"cannot be read: {error.strerror}", "correct path or permissions") from error
    return parse_json(str(path), text)


def regular_size(path: Path) -> int:
    """Bytes of `path`; CheckpointError for a pipe or a device, whose reading may never end. Raises OSError."""
    state = path.stat()
    if not stat.S_ISREG(state.st_mode) and not stat.S_ISDIR(state.st_mode):
        raise CheckpointError(str(path), "is not a regular file", "put the file itself there")
    return state.st_size


def parse_json(path: str, text: bytes) -> dict[str, Any]:
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CheckpointError(path, f"is not JSON: {error}", "download the file again") from error
    if not isinstance(tree, dict):
        raise CheckpointError(path, f"holds a JSON {type(tree).__name__}, not an object", "download the file again")
    return tree


class Fields:
    """A key-value tree of a file. A key that is absent or null takes the default; without default it is an error."""

    def __init__(self, path: str, tree: Mapping[str, Any]) -> None:
        self.path, self.tree = path, tree

    def wrong(self, key: str, expected: str) -> CheckpointError:
        return CheckpointError(self.path, f"{key} is {shorten(self.tree.get(key))}, expected {expected}", CORRECT)

    def missing(self, key: str) -> CheckpointError:
        return CheckpointError(
            self.path, f"has no {key}", "the file is incomplete or of a layout this engine does not know"
        )

    def integer(self, key: str, default: int | None = None, least: int = 1, most: int = LARGEST_INTEGER) -> int:
        value = self.optional_integer(key, least, most)
        if value is None and default is None:
            raise self.missing(key)
        return default if value is None else value  # type: ignore[return-value]

    def optional_integer(self, key: str, least: int = 1, most: int = LARGEST_INTEGER) -> int | None:
        value = self.tree.get(key)
        if value is None:
            return None
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise self.wrong(key, f"an integer from {least} to {most}")
        return value

    def number(self, key: str, default: float | None = None, positive: bool = True) -> float:
        value = self.optional_number(key, positive)
        if value is None and default is None:
            raise self.missing(key)
        return default if value is None else value  # type: ignore[return-value]

    def optional_number(self, key: str, positive: bool = True) -> float | None:
        value = self.tree.get(key)
        if value is None:
            return None
        usable = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300
        if not usable or not math.isfinite(value) or (positive and value <= 0):
            raise self.wrong(key, "a positive number" if positive else "a number")
        return float(value)

    def boolean(self, key: str, default: bool) -> bool:
        value = self.tree.get(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self.wrong(key, "true or false")
        return value

    def text(self, key: str, default: str | None = None) -> str:
        value = self.tree.get(key, default)
        if value is None:
            value = default
        if value is None:
            raise self.missing(key)
        if not isinstance(value, str):
            raise self.wrong(key, "text")
        return value

    def section(self, key: str) -> "Fields | None":
        """The object under `key`, or None where it is absent or null."""
        value = self.tree.get(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self.wrong(key, "an object")
        return Fields(f"{self.path} {key}", value)

    def token_ids(self, key: str) -> tuple[int, ...]:
        """One id or a list of ids."""
        value = self.tree.get(key)
        ids = value if isinstance(value, list) else [] if value is None else [value]
        if any(isinstance(i, bool) or not isinstance(i, int) or not 0 <= i < LARGEST_INTEGER for i in ids):
            raise self.wrong(key, "a token id or a list of them")
        return tuple(dict.fromkeys(ids))


def shorten(value: Any, width: int = 60) -> str:
    """A seen value for an error text: one line, not longer than `width`."""
    text = repr(value)
    return text if len(text) <= width else f"{text[:width]}..."
