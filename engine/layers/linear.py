"""Matrix products with the weights laid out [out, in]; several products of one input are one packed product."""

import torch
import torch.nn.functional as F  # noqa: N812

from .parameters import Parameters


class Linear:
    """[T, in] -> [T, sum of out]. The parts named in `outputs` lie side by side, in that order."""

    __slots__ = ("bias", "weight")

    def __init__(self, parameters: Parameters, inputs: int, outputs: dict[str, int], bias: bool = False) -> None:
        self.weight = parameters.packed({f"{name}.weight": rows for name, rows in outputs.items()}, inputs)
        self.bias = parameters.packed({f"{name}.bias": rows for name, rows in outputs.items()}) if bias else None

    def __call__(self, inputs: torch.Tensor) -> torch.Tensor:
        return F.linear(inputs, self.weight, self.bias)
