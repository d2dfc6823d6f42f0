"""One machine as the planner sees it: probed once, frozen, passed in; saved as JSON to plan for it elsewhere."""

import os
import platform
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import msgspec

from .accelerators import Accelerator, find_accelerators
from .cgroup import read_limits
from .cpu import allowed_cores, cpu_arch, numa_nodes, read_cpuinfo

Platform = Literal["cpu", "cuda", "rocm"]
OPENMP = re.compile(r"(OMP|GOMP|KMP)_|VLLM_CPU_OMP_")
VENDOR_PLATFORMS: dict[str, Platform] = {"nvidia": "cuda", "amd": "rocm"}


@dataclass(frozen=True)
class HardwareSnapshot:
    """Cores and memory (bytes) are what this process may use, by affinity and control groups."""

    name: str
    cpu_model: str
    cpu_arch: str
    """x86-64-v4, aarch64 ..."""
    cpu_features: tuple[str, ...]
    cores: int
    numa_nodes: int
    memory: int
    memory_available: int
    limited: bool = False
    """A control group holds cores or memory below what the machine has."""
    accelerators: tuple[Accelerator, ...] = ()
    system: str = ""
    python: str = ""
    openmp: dict[str, str] = field(default_factory=dict)
    """Variables by which an operator rules the threads of every process below this one."""

    @property
    def best_platform(self) -> Platform:
        return VENDOR_PLATFORMS[self.accelerators[0].vendor] if self.accelerators else "cpu"

    def dump(self) -> bytes:
        return msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n"

    @staticmethod
    def load(text: bytes | str) -> "HardwareSnapshot":
        """ValueError says what is wrong with a saved snapshot."""
        snapshot = msgspec.json.decode(text, type=HardwareSnapshot)
        for name in ("cores", "numa_nodes", "memory"):
            if (value := getattr(snapshot, name)) < 1:
                raise ValueError(f"{name} is {value}, expected 1 or more")
        if not 0 <= snapshot.memory_available <= snapshot.memory:
            raise ValueError(f"memory_available is {snapshot.memory_available}, expected 0 to {snapshot.memory}")
        return snapshot


def probe(root: Path = Path("/"), cores: int | None = None) -> HardwareSnapshot:
    """This machine. `root` holds proc and sys, `cores` replaces the scheduler's affinity: for tests."""
    allowed = cores or allowed_cores()
    limits = read_limits(root)
    total, available = _memory(root)
    usable = total if limits.memory is None else min(total, limits.memory)
    if limits.memory is not None:
        available = min(available, max(0, limits.memory - limits.used))
    quota = allowed if limits.cores is None else max(1, int(limits.cores))
    model, features = read_cpuinfo(root)
    return HardwareSnapshot(
        name=platform.node() or "this machine",
        cpu_model=model,
        cpu_arch=cpu_arch(platform.machine(), features),
        cpu_features=features,
        cores=min(allowed, quota),
        numa_nodes=numa_nodes(root),
        memory=usable,
        memory_available=min(available, usable),
        limited=usable < total or quota < allowed,
        accelerators=find_accelerators(root),
        system=f"{platform.system()} {platform.release()}",
        python=platform.python_version(),
        openmp={name: value for name, value in sorted(os.environ.items()) if OPENMP.match(name)},
    )


def _memory(root: Path) -> tuple[int, int]:
    """(total, available) of the machine in bytes."""
    try:
        lines = (root / "proc/meminfo").read_text().splitlines()
    except OSError:
        page = os.sysconf("SC_PAGE_SIZE")
        total = page * os.sysconf("SC_PHYS_PAGES")
        return total, total
    facts = {key: int(value.split()[0]) * 1024 for key, _, value in (line.partition(":") for line in lines) if value}
    return facts["MemTotal"], facts.get("MemAvailable", facts.get("MemFree", facts["MemTotal"]))
