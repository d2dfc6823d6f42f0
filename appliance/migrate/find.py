"""Files, folders and patterns -> the files to look at, each once."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path

_SKIPPED = frozenset({"node_modules", "__pycache__", "venv", "site-packages"})


@dataclass(frozen=True)
class Found:
    """named: a person asked for this very file, so nothing about it is left out in silence."""

    path: str
    named: bool


def find(names: Iterable[str]) -> Iterator[Found]:
    """A name that leads nowhere is given back. Folders are walked in order, without hidden and installed ones."""
    seen: set[str] = set()
    for found in _expanded(names):
        real = os.path.realpath(found.path)
        if real not in seen:
            seen.add(real)
            yield found


def _expanded(names: Iterable[str]) -> Iterator[Found]:
    for name in names:
        if Path(name).is_dir():
            yield from _walked(name)
        elif not os.path.lexists(name) and has_magic(name):
            matches = sorted(glob(name, recursive=True))  # noqa: PTH207
            for match in matches:
                yield from _walked(match) if Path(match).is_dir() else [Found(match, True)]
            if not matches:
                yield Found(name, True)
        else:
            yield Found(name, True)


def _walked(folder: str) -> Iterator[Found]:
    for where, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED)
        for file in sorted(files):
            path = Path(where, file)
            if path.is_file():
                yield Found(str(path), False)
