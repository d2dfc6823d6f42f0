"""The compiled kernels as functions on tensors. Shapes and dtypes are the caller's promise: nothing is checked."""

import contextlib
import ctypes
import logging
import sys
from ctypes import c_float, c_int64, c_long, c_void_p
from functools import cache
from pathlib import Path
from typing import Any

import torch

from .build import CannotBuildError, cache_root, library_file
from .instructions import instructions
from .prebuilt import prebuilt_file

logger = logging.getLogger("appliance.engine")

NAMES = {torch.bfloat16: "bfloat16", torch.float16: "float16", torch.float32: "float32"}
LANES = 16
PANEL = 64
"""Columns of a product that are summed together."""
WIDEST_HEAD = 512


class HeadShape(ctypes.Structure):
    _fields_ = (
        *((name, c_int64) for name in ("tokens", "heads", "kv_heads", "head_dim", "turn_stride", "token_bytes")),
        ("eps", c_float),
    )


class AttentionShape(ctypes.Structure):
    """`window` and `softcap` 0 = none."""

    _fields_ = (
        *((name, c_int64) for name in ("heads", "kv_heads", "head_dim", "block_tokens", "token_bytes", "window")),
        ("scale", c_float),
        ("softcap", c_float),
    )


class Library:
    """C functions by name; every argument is a pointer, a long or a float."""

    def __init__(self, path: Path) -> None:
        _share_openmp()
        self._library = ctypes.CDLL(str(path))

    def function(self, name: str, *arguments: Any) -> Any:
        found = getattr(self._library, name)
        found.argtypes, found.restype = arguments, None
        return found

    def rms_norm(self, dtype: torch.dtype) -> Any:
        """(hidden, delta | 0, normed, float32 weight, rows, width, eps)"""
        return self.function(f"rms_norm_{NAMES[dtype]}", *[c_void_p] * 4, c_long, c_long, c_float)

    def gate(self, activation: str, dtype: torch.dtype) -> Any:
        """(both, gated, rows, width)"""
        return self.function(f"{activation}_{NAMES[dtype]}", c_void_p, c_void_p, c_long, c_long)

    def linear(self, dtype: torch.dtype) -> tuple[Any, Any] | None:
        """pack(weight, packed, columns, inner), product(input, packed, bias | 0, output, rows, inner, columns).

        None where oneDNN multiplies `dtype` faster on this CPU.
        """
        matrix_unit = dtype == torch.bfloat16 and "amx_bf16" in instructions()
        if matrix_unit or not hasattr(self._library, f"pack_{NAMES[dtype]}"):
            return None
        pack = self.function(f"pack_{NAMES[dtype]}", c_void_p, c_void_p, c_long, c_long)
        return pack, self.function(f"linear_{NAMES[dtype]}", *[c_void_p] * 4, c_long, c_long, c_long)

    def place(self, dtype: torch.dtype, kv_format: str) -> Any:
        """(qkv, queries, pool, slots, cos, sin, query weight | 0, key weight | 0, HeadShape)"""
        return self.function(f"place_{NAMES[dtype]}_{kv_format}", *[c_void_p] * 9)

    def attend(self, dtype: torch.dtype, kv_format: str) -> Any:
        """(queries, output, pool, blocks, runs, number of runs, multiplications, AttentionShape)"""
        return self.function(f"attend_{NAMES[dtype]}_{kv_format}", *[c_void_p] * 5, c_long, c_long, c_void_p)


@cache
def library() -> Library | None:
    """Built on this machine's first use. None, said once per process, where it cannot be built or loaded."""
    try:
        return Library(prebuilt_file() or library_file(cache_root()))
    except (CannotBuildError, OSError) as error:
        logger.warning("no compiled kernels, the slower ones of PyTorch serve: %s", error)
        return None


def _share_openmp() -> None:
    """Makes the functions of the OpenMP library that torch has loaded visible to libraries loaded later."""
    if sys.platform == "linux":
        maps = Path("/proc/self/maps").read_text().splitlines()
        for path in {line.split()[-1] for line in maps if "libgomp" in line} or {"libgomp.so.1"}:
            with contextlib.suppress(OSError):
                ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
