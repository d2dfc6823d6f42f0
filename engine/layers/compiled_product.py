"""Products by the compiled CPU kernel, where this machine has it. Weights lie in panels of columns.

A row's result depends on nothing but the row: its products are summed one by one in float32.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import torch

from appliance.kernels.cpu.library import LANES, NAMES, PANEL, library

Product = Callable[[torch.Tensor, torch.Tensor, torch.Tensor | None], torch.Tensor]


@cache
def _functions(dtype: torch.dtype) -> tuple[Any, Any] | None:
    compiled = library() if dtype in NAMES else None
    return compiled.linear(dtype) if compiled else None


def exists(dtype: torch.dtype) -> bool:
    return _functions(dtype) is not None


def usable(weight: torch.Tensor) -> bool:
    return weight.device.type == "cpu" and weight.shape[1] % LANES == 0 and exists(weight.dtype)


def pack(weight: torch.Tensor) -> tuple[torch.Tensor, Product]:
    """[out, in] -> the same in panels, and the product that reads them."""
    functions = _functions(weight.dtype)
    assert functions is not None
    columns, inner = weight.shape
    packed = weight.new_empty(-(-columns // PANEL) * PANEL, inner)
    functions[0](weight.contiguous().data_ptr(), packed.data_ptr(), columns, inner)
    return packed, partial(_product, functions[1], columns)


def _product(
    function: Any, columns: int, inputs: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None
) -> torch.Tensor:
    inputs = inputs.contiguous()
    rows, inner = inputs.shape
    output = inputs.new_empty(rows, columns)
    function(
        inputs.data_ptr(),
        weight.data_ptr(),
        0 if bias is None else bias.data_ptr(),
        output.data_ptr(),
        rows,
        inner,
        columns,
    )
    return output
