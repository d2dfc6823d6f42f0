"""Weights laid out once for oneDNN's kernels: one-row products take half the time of those on plain rows.

These operators are what TorchInductor calls for frozen weights; torch is pinned to one minor release.
"""

from collections.abc import Callable

import torch

ROWS_EXPECTED = 32

# dtype -> does this CPU multiply it natively?
SUPPORTED: dict[torch.dtype, Callable[[], bool]] = {
    torch.float32: lambda: True,
    torch.bfloat16: lambda: bool(torch.ops.mkldnn._is_mkldnn_bf16_supported()),
    torch.float16: lambda: bool(torch.ops.mkldnn._is_mkldnn_fp16_supported()),
}


def usable(weight: torch.Tensor) -> bool:
    known = torch.backends.mkldnn.is_available() and weight.device.type == "cpu"
    return known and weight.dtype in SUPPORTED and SUPPORTED[weight.dtype]()


def pack(weight: torch.Tensor) -> torch.Tensor:
    """[out, in] -> the same in a layout that only `product` reads."""
    packed: torch.Tensor = torch.ops.mkldnn._reorder_linear_weight(weight, ROWS_EXPECTED)
    return packed


def product(inputs: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    """[T, in], packed [out, in] -> [T, out]"""
    result: torch.Tensor = torch.ops.mkldnn._linear_pointwise.default(inputs, weight, bias, "none", [], "")
    return result
