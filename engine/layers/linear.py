"""Matrix products with the weights laid out [out, in]; several products of one input are one packed product."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812

from . import compiled_product, onednn
from .parameters import Parameters

Change = Callable[[torch.Tensor, torch.Tensor], None]
"""Adds to a product's outputs in place, given its inputs."""
Product = Callable[[torch.Tensor, torch.Tensor, torch.Tensor | None], torch.Tensor]
EXACT_ROWS = 32


def best_product(weight: torch.Tensor) -> tuple[torch.Tensor, Product]:
    """The weight as the fastest product on its device wants it, and that product."""
    if compiled_product.usable(weight):
        return compiled_product.pack(weight)
    if onednn.usable(weight):
        return onednn.pack(weight), onednn.product
    return weight, F.linear


def padded_rows(dtype: torch.dtype, rows: int) -> int:
    """How many rows a step of `rows` should have.

    oneDNN keeps code of its own for every number of rows, so that there must be few; and it rounds the products of a
    single row in an order of its own, which two rows avoid. The compiled product has neither weakness.
    """
    if compiled_product.exists(dtype):
        return max(1, rows)
    if rows <= EXACT_ROWS:
        return max(2, rows)
    step = 1 << (rows.bit_length() - 4)
    return -(-rows // step) * step


class Linear:
    """[T, in] -> [T, sum of out]. The parts named in `outputs` lie side by side, in that order."""

    __slots__ = ("bias", "change", "product", "weight")

    def __init__(self, parameters: Parameters, inputs: int, outputs: dict[str, int], bias: bool = False) -> None:
        self.weight = parameters.packed({f"{name}.weight": rows for name, rows in outputs.items()}, inputs)
        self.bias = parameters.packed({f"{name}.bias": rows for name, rows in outputs.items()}) if bias else None
        self.product: Product = F.linear
        self.change: Change | None = None
        """What adapters add; None where no resident one has a part in this product."""
        parameters.when_filled(self._pack)
        start = 0
        for name, rows in outputs.items():
            parameters.parts[parameters.prefix + name] = Part(self, start, rows, inputs)
            start += rows

    def __call__(self, inputs: torch.Tensor) -> torch.Tensor:
        outputs = self.product(inputs, self.weight, self.bias)
        if self.change is not None:
            self.change(inputs, outputs)
        return outputs

    def _pack(self) -> None:
        self.weight, self.product = best_product(self.weight)


@dataclass(frozen=True)
class Part:
    """One named product inside a packed one: columns [start, start + rows) of its outputs."""

    linear: Linear
    start: int
    rows: int
    inputs: int
