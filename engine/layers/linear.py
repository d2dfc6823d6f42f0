"""Matrix products with the weights laid out [out, in]; several products of one input are one packed product."""

from collections.abc import Callable

import torch
import torch.nn.functional as F  # noqa: N812

from . import onednn
from .parameters import Parameters

Product = Callable[[torch.Tensor, torch.Tensor, torch.Tensor | None], torch.Tensor]


def best_product(weight: torch.Tensor) -> tuple[torch.Tensor, Product]:
    """The weight as the fastest product on its device wants it, and that product."""
    if onednn.usable(weight):
        return onednn.pack(weight), onednn.product
    return weight, F.linear


class Linear:
    """[T, in] -> [T, sum of out]. The parts named in `outputs` lie side by side, in that order."""

    __slots__ = ("bias", "product", "weight")

    def __init__(self, parameters: Parameters, inputs: int, outputs: dict[str, int], bias: bool = False) -> None:
        self.weight = parameters.packed({f"{name}.weight": rows for name, rows in outputs.items()}, inputs)
        self.bias = parameters.packed({f"{name}.bias": rows for name, rows in outputs.items()}) if bias else None
        self.product: Product = F.linear
        parameters.when_filled(self._pack)

    def __call__(self, inputs: torch.Tensor) -> torch.Tensor:
        return self.product(inputs, self.weight, self.bias)

    def _pack(self) -> None:
        self.weight, self.product = best_product(self.weight)
