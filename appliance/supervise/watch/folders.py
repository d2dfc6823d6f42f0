"""Which folders tell about a file: its own, and that of every link on the way to it."""

from dataclasses import dataclass
from pathlib import Path

MOST_LINKS = 40


@dataclass(frozen=True)
class Folder:
    """The inode tells a folder from another one that has taken its name."""

    path: str
    device: int
    inode: int


def folders(path: Path) -> set[Folder]:
    """Existing folders in which an entry decides what `path` leads to. Where the way ends early, its last folder."""
    found: set[Path] = set()
    rest = list(path.absolute().parts[1:])
    at, links = Path(path.absolute().anchor), 0
    while rest:
        name = rest.pop(0)
        if name == "..":
            at = at.parent
            continue
        entry = at / name
        if not rest:
            found.add(at)
        if entry.is_symlink() and links < MOST_LINKS:
            found.add(at)
            links += 1
            target = entry.readlink()
            rest = [*target.parts[1 if target.is_absolute() else 0 :], *rest]
            at = Path(target.anchor) if target.is_absolute() else at
        elif rest and not entry.is_dir():
            found.add(at)
            break
        else:
            at = entry
    return {folder for one in found if (folder := _identify(one))}


def _identify(path: Path) -> Folder | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return Folder(str(path), status.st_dev, status.st_ino)
