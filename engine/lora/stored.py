"""What an adapter's folder tells without torch: the memory it will take, and whether it is still the same."""

import hashlib
from pathlib import Path

from appliance.engine.checkpoint.safetensors_header import read_file
from appliance.engine.lora.config import NAME

WEIGHTS = "adapter_model.safetensors"
RANK_STEP = 16
"""Ranks are filled up to a multiple of it with zeros, for the products that take no other."""


def memory_bytes(folder: Path, element_bytes: int) -> int:
    """Of all its matrices beside the model, `element_bytes` a number. CheckpointError where the header is wrong."""
    elements = 0
    for tensor in read_file(folder / WEIGHTS):
        # lora_A is [rank, in], lora_B is [out, rank]
        rank = tensor.shape[-1 if ".lora_B." in tensor.name else 0] if tensor.shape else 1
        elements += tensor.elements // max(1, rank) * (rank + -rank % RANK_STEP)
    return elements * element_bytes


def mark(folder: str) -> str:
    """Another one when the folder is, or when a file in it was written or replaced. Nothing of the weights is read."""
    found = hashlib.sha256(folder.encode("utf-8", "surrogatepass"))
    for name in (NAME, WEIGHTS):
        try:
            stat = (Path(folder) / name).stat()
        except OSError:
            continue
        found.update(f"\0{name} {stat.st_size} {stat.st_mtime_ns} {stat.st_ino}".encode())
    return found.hexdigest()[:12]
