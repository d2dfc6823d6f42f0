"""The processor as the kernel describes it: model, instruction sets, NUMA nodes. Fewer facts outside Linux."""

import os
import platform
from pathlib import Path

# What the planner and the engine choose by; all other flags are left out of the snapshot.
X86_FEATURES = (
    "avx2", "fma", "f16c", "avx_vnni", "avx512f", "avx512bw", "avx512vl", "avx512dq", "avx512cd", "avx512_vnni",
    "avx512_bf16", "avx512_fp16", "amx_tile", "amx_int8", "amx_bf16", "amx_fp16", "avx10_2",
)  # fmt: skip
ARM_FEATURES = ("asimd", "asimdhp", "asimddp", "i8mm", "bf16", "sve", "sve2", "svebf16", "sme", "sme2")
V4 = {"avx512f", "avx512bw", "avx512vl", "avx512dq", "avx512cd"}
V3 = {"avx2", "fma", "f16c"}
# A core's entry is well below this; the whole file takes tens of milliseconds on machines with hundreds of cores.
FIRST_CORE_BYTES = 16 * 1024


def read_cpuinfo(root: Path) -> tuple[str, tuple[str, ...]]:
    """(model name, instruction sets) of the first core."""
    try:
        with (root / "proc/cpuinfo").open("rb") as file:
            text = file.read(FIRST_CORE_BYTES).decode(errors="replace")
    except OSError:
        return platform.processor() or platform.machine(), ()
    entries = [line.partition(":") for line in text.splitlines()]
    first: dict[str, str] = {}
    for key, _, value in entries:
        first.setdefault(key.strip(), value.strip())
    flags = set(first.get("flags", first.get("Features", "")).split())
    known = X86_FEATURES if "flags" in first else ARM_FEATURES
    return first.get("model name", platform.machine()), tuple(name for name in known if name in flags)


def cpu_arch(machine: str, features: tuple[str, ...]) -> str:
    """x86-64-v2 to -v4 by instruction sets, else the machine's own name (aarch64)."""
    if machine not in ("x86_64", "AMD64"):
        return machine
    present = set(features)
    return "x86-64-v4" if present >= V4 | V3 else "x86-64-v3" if present >= V3 else "x86-64-v2"


def numa_nodes(root: Path) -> int:
    return max(1, len(list(root.glob("sys/devices/system/node/node[0-9]*"))))


def allowed_cores() -> int:
    """Cores this process may be scheduled on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
