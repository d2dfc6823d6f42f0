"""Tensor storage types by name and their sizes; one tensor's place in a file."""

from dataclasses import dataclass
from math import prod
from typing import NamedTuple


class StorageType(NamedTuple):
    """`block` elements take `block_bytes` bytes; `torch_name` is empty for quantised types."""

    block: int
    block_bytes: int
    torch_name: str = ""


STORAGE_TYPES: dict[str, StorageType] = {
    "F32": StorageType(1, 4, "float32"),
    "F16": StorageType(1, 2, "float16"),
    "BF16": StorageType(1, 2, "bfloat16"),
    "Q4_0": StorageType(32, 18),
    "Q4_1": StorageType(32, 20),
    "Q5_0": StorageType(32, 22),
    "Q5_1": StorageType(32, 24),
    "Q8_0": StorageType(32, 34),
    "Q4_K": StorageType(256, 144),
    "Q5_K": StorageType(256, 176),
    "Q6_K": StorageType(256, 210),
}


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """`shape` is in torch's order, also for GGUF; `offset` counts bytes from the file's start."""

    name: str
    dtype: str
    """A name of STORAGE_TYPES."""
    shape: tuple[int, ...]
    file: str
    offset: int
    nbytes: int

    @property
    def elements(self) -> int:
        return prod(self.shape)


def dominant_dtype(tensors: tuple[TensorInfo, ...]) -> str:
    """Of the type that holds most bytes: torch's name, or the GGUF name of a quantised type (Q4_1)."""
    held: dict[str, int] = {}
    for tensor in tensors:
        held[tensor.dtype] = held.get(tensor.dtype, 0) + tensor.nbytes
    name = max(held, key=lambda dtype: held[dtype])
    return STORAGE_TYPES[name].torch_name or name
