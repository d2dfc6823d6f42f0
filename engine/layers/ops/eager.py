"""The operations in plain PyTorch: the truth of the compiled ones, and what serves where those do not exist."""

from collections.abc import Callable

import torch
import torch.nn.functional as F  # noqa: N812


def gelu_tanh(gate: torch.Tensor) -> torch.Tensor:
    return F.gelu(gate, approximate="tanh")


ACTIVATIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {"silu": F.silu, "gelu_tanh": gelu_tanh}


class EagerOps:
    def keep(self, weight: torch.Tensor) -> torch.Tensor:
        return weight

    def rotation_dtype(self, dtype: torch.dtype) -> torch.dtype:
        return dtype

    def rms_norm(self, hidden: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
        """A float32 weight under a narrower model: all in float32, rounded once."""
        normed = F.rms_norm(hidden.to(weight.dtype), (hidden.shape[-1],), weight, eps)
        return normed.to(hidden.dtype)

    def add_rms_norm(self, hidden: torch.Tensor, delta: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
        return self.rms_norm(hidden.add_(delta), weight, eps)

    def gate(self, activation: str, both: torch.Tensor) -> torch.Tensor:
        width = both.shape[-1] // 2
        # Out of place: in place on this strided half is three times slower on CPUs.
        gate = ACTIVATIONS[activation](both[:, :width])
        return gate.mul_(both[:, width:])
