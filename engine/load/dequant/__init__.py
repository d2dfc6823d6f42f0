"""Quantised GGUF blocks to floating point, one file per type: uint8 [n, block_bytes] -> float32 [n, block elements].

Products of a scale and a quantum are exact in float32, so the results equal the gguf library's bit for bit.
"""

from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module

import torch

from appliance.engine.checkpoint.dtypes import STORAGE_TYPES

# type -> module beside this file
TYPES: dict[str, str] = {
    "Q4_0": "q4_0",
    "Q4_1": "q4_1",
    "Q5_0": "q5_0",
    "Q5_1": "q5_1",
    "Q8_0": "q8_0",
    "Q4_K": "q4_k",
    "Q5_K": "q5_k",
    "Q6_K": "q6_k",
}
# Elements decoded at a time: what lies between reading and writing stays in a core's cache.
CHUNK = 1 << 15
STRIPE = 1 << 22


def dequantise(content: torch.Tensor, kind: str, dtype: torch.dtype, workers: int = 1) -> torch.Tensor:
    """uint8 [rows, row bytes] of a quantised type -> [rows, columns] in `dtype`, by that many threads."""
    decode: Callable[[torch.Tensor], torch.Tensor] = import_module(f".{TYPES[kind]}", __package__).decode
    storage = STORAGE_TYPES[kind]
    blocks = content.reshape(-1, storage.block_bytes)
    values = torch.empty(len(blocks), storage.block, dtype=dtype)

    def stripe(first: int) -> None:
        for start in range(first, min(first + STRIPE // storage.block, len(blocks)), CHUNK // storage.block):
            window = slice(start, start + CHUNK // storage.block)
            values[window] = decode(blocks[window])

    firsts = range(0, len(blocks), STRIPE // storage.block)
    if workers > 1 and len(firsts) > 1:
        with ThreadPoolExecutor(workers) as pool:
            deque(pool.map(stripe, firsts), maxlen=0)
    else:
        deque(map(stripe, firsts), maxlen=0)
    return values.view(len(content), -1)
