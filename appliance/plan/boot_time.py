"""How long a boot takes, roughly: imports, reading weights, widening them. Constants measured on a small cloud CPU."""

from .machine import Machine
from .numbers import DTYPE_BYTES
from .plan import ModelFacts

FIXED_SECONDS = 3.0
READ_BYTES_PER_SECOND = 1.5e9
WIDEN_ELEMENTS_PER_SECOND_AND_CORE = 1.1e8
MOST_CORES = 8


def boot_seconds(model: ModelFacts, dtype: str, machine: Machine) -> float:
    seconds = FIXED_SECONDS + model.stored_bytes / READ_BYTES_PER_SECOND
    if model.stored_dtype not in DTYPE_BYTES and model.parameters:
        seconds += model.parameters / (WIDEN_ELEMENTS_PER_SECOND_AND_CORE * min(machine.cores, MOST_CORES))
    return round(seconds, 1)
