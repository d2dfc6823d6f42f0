"""The operations and their contract."""

from typing import Protocol

import torch


class Ops(Protocol):
    def keep(self, weight: torch.Tensor) -> torch.Tensor:
        """A norm's weight in the form that `rms_norm` wants."""
        ...

    def rotation_dtype(self, dtype: torch.dtype) -> torch.dtype:
        """Of cos and sin, in a model of `dtype`."""
        ...

    def rms_norm(self, hidden: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
        """[T, size] / rms * weight in the dtype of `hidden`, its squares summed in float32."""
        ...

    def add_rms_norm(self, hidden: torch.Tensor, delta: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
        """hidden += delta in place, then as `rms_norm`."""
        ...

    def gate(self, activation: str, both: torch.Tensor) -> torch.Tensor:
        """[T, 2 * width] -> activation(first half) * second half, [T, width]; `activation` silu or gelu_tanh."""
        ...
