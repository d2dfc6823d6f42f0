"""Limits that a container or a service manager put on this process: control groups, versions 1 and 2."""

from dataclasses import dataclass
from pathlib import Path

# Version 1 writes "no limit" as the largest page-aligned integer.
UNLIMITED = 2**60


@dataclass(frozen=True)
class Limits:
    """None = no limit. `used` = memory that cannot be reclaimed, of the group with the tightest limit."""

    cores: float | None = None
    memory: int | None = None
    used: int = 0


def read_limits(root: Path) -> Limits:
    """The tightest limit on the way from this process's group up to the root of the hierarchy."""
    groups = _groups(root)
    mount = root / "sys/fs/cgroup"
    if (mount / "cgroup.controllers").exists() or ("" in groups and not (mount / "memory").is_dir()):
        places = _upwards(mount, groups.get("", "/"))
        return _tightest([_cores_v2(place) for place in places], [_memory_v2(place) for place in places])
    cpu = next((mount / name for name in ("cpu", "cpu,cpuacct") if (mount / name).is_dir()), mount / "cpu")
    return _tightest(
        [_cores_v1(place) for place in _upwards(cpu, groups.get("cpu", "/"))],
        [_memory_v1(place) for place in _upwards(mount / "memory", groups.get("memory", "/"))],
    )


def _groups(root: Path) -> dict[str, str]:
    """Controller -> path of this process's group; version 2 has the empty controller."""
    found: dict[str, str] = {}
    for line in (_text(root / "proc/self/cgroup") or "").splitlines():
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        found |= dict.fromkeys(controllers.split(","), path)
    return found


def _upwards(mount: Path, group: str) -> list[Path]:
    """Inside a container the path is the host's and absent here; the mount itself is then this process's group."""
    parts = [part for part in group.split("/") if part not in ("", "..")]
    places = [mount.joinpath(*parts[:length]) for length in range(len(parts), -1, -1)]
    return [place for place in places if place.is_dir()]


def _tightest(cores: list[float | None], memory: list[tuple[int, int] | None]) -> Limits:
    limited = [entry for entry in memory if entry is not None and entry[0] < UNLIMITED]
    limit, used = min(limited, default=(None, 0), key=lambda entry: entry[0] - entry[1])
    return Limits(min((count for count in cores if count), default=None), limit, used)


def _cores_v2(place: Path) -> float | None:
    quota, _, period = (_text(place / "cpu.max") or "max").partition(" ")
    return int(quota) / int(period or 100_000) if quota.isdigit() else None


def _memory_v2(place: Path) -> tuple[int, int] | None:
    limit = _number(place / "memory.max")
    used = (_number(place / "memory.current") or 0) - _stat(place / "memory.stat", "inactive_file")
    return None if limit is None else (limit, max(0, used))


def _cores_v1(place: Path) -> float | None:
    quota, period = _number(place / "cpu.cfs_quota_us"), _number(place / "cpu.cfs_period_us")
    return quota / period if quota and period else None


def _memory_v1(place: Path) -> tuple[int, int] | None:
    limit = _number(place / "memory.limit_in_bytes")
    used = (_number(place / "memory.usage_in_bytes") or 0) - _stat(place / "memory.stat", "total_inactive_file")
    return None if limit is None else (limit, max(0, used))


def _stat(path: Path, key: str) -> int:
    pairs = (line.split() for line in (_text(path) or "").splitlines())
    return next((int(pair[1]) for pair in pairs if len(pair) == 2 and pair[0] == key), 0)


def _number(path: Path) -> int | None:
    text = _text(path)
    return int(text) if text is not None and text.isdigit() else None


def _text(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None
