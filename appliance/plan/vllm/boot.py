"""How long vLLM takes from its start to its first token, roughly, and after how long it counts as hanging."""

from collections.abc import Mapping
from typing import Any

# Imports and processes; compilation and graph capture. Measured on a small cloud CPU.
FIXED_SECONDS = 20.0
COMPILE_SECONDS = 75.0
READ_BYTES_PER_SECOND = 1.0e9
PER_NODE_SECONDS = 10.0
LIMIT_FACTOR, LIMIT_ADDED = 5.0, 300.0


def boot_seconds(stored_bytes: int, nodes: int, options: Mapping[str, Any]) -> float:
    compiled = 0.0 if options.get("enforce-eager") is True else COMPILE_SECONDS
    return round(FIXED_SECONDS + compiled + stored_bytes / READ_BYTES_PER_SECOND + PER_NODE_SECONDS * (nodes - 1), 1)


def boot_limit(seconds: float) -> float:
    """Machines under load, cold caches and remote disks boot several times as long; a hang is told all the same."""
    return round(seconds * LIMIT_FACTOR + LIMIT_ADDED)
