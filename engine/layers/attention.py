"""How a model file asks for attention over the paged cache without knowing pages."""

from typing import Protocol

import torch


class AttentionContext(Protocol):
    """One step's view of the KV cache, shared by all layers of a forward pass."""

    def attend(
        self,
        layer: int,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        *,
        scale: float,
        window: int | None = None,
        softcap: float | None = None,
    ) -> torch.Tensor:
        """Stores this step's keys and values, then attends causally over each sequence's whole cache.

        query [T, heads, head_dim], key and value [T, kv_heads, head_dim], already rotated -> [T, heads, head_dim].
        `window` tokens back, itself included; None = all. `softcap` c applies c * tanh(score / c).
        """
        ...
