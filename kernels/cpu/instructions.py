"""What this CPU can do, in the words of the kernel's flags."""

import platform
from functools import cache
from pathlib import Path


@cache
def instructions() -> frozenset[str]:
    """`avx512f`, `avx512_bf16`, `amx_bf16` ...; empty where they cannot be read."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return frozenset(platform.processor().split())
    line = next((line for line in lines if line.startswith(("flags", "Features"))), "")
    return frozenset(line.partition(":")[2].split())
