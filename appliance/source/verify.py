"""sha256 of single files, remembered in stamps so that an unchanged file is hashed once, not at every boot."""

import contextlib
import hashlib
import json
import os
from pathlib import Path

from appliance.source import cache
from appliance.source.base import Want, refuse_digest

CHUNK = 1 << 20


def stamp_path(path: Path) -> Path:
    return cache.root() / "stamps" / f"{hashlib.sha256(os.fsencode(path)).hexdigest()[:32]}.json"


def _state(path: Path) -> dict[str, object]:
    stat = path.stat()
    return {"path": str(path), "size": stat.st_size, "mtime_ns": stat.st_mtime_ns, "inode": stat.st_ino}


def remembered(path: Path) -> str | None:
    """The hash of `path` when nothing about the file changed since it was taken."""
    try:
        stamp = json.loads(stamp_path(path).read_text())
    except (OSError, ValueError):
        return None
    if not isinstance(stamp, dict):
        return None
    sha256 = stamp.pop("sha256", None)
    return sha256 if isinstance(sha256, str) and stamp == _state(path) else None


def remember(path: Path, sha256: str) -> None:
    """Best effort: without a writable cache the file is hashed again next time."""
    target = stamp_path(path)
    with contextlib.suppress(OSError):
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_suffix(f".{os.getpid()}")
        part.write_text(json.dumps({**_state(path), "sha256": sha256}))
        part.replace(target)


def file_sha256(path: Path, want: Want) -> str:
    """Reads the file once, or not at all when its stamp still holds."""
    known = remembered(path)
    if known:
        return known
    digest, done, total = hashlib.sha256(), 0, path.stat().st_size
    with path.open("rb") as file, want.progress.meter(f"verifying {path.name}") as meter:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
            done += len(chunk)
            meter.update(done, total)
    remember(path, digest.hexdigest())
    return digest.hexdigest()


def verify(path: Path, want: Want) -> str | None:
    """The hash when the profile gives one and the file has it; AP0503 when it differs; None without one."""
    if not want.sha256:
        return None
    seen = file_sha256(path, want)
    if seen != want.sha256.lower():
        mismatch(path.name, seen, want, "")
    return seen


def mismatch(name: str, seen: str, want: Want, consequence: str, first: str = "") -> None:
    """`first` is the way out to try before any other."""
    fact = f"{name} has sha256 {seen}, the profile says {want.sha256}{consequence}"
    refuse_digest(want, fact, f"{first}check the source, then correct model.sha256")
