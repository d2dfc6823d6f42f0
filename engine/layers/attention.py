"""How a model file asks for attention over the paged cache without knowing pages."""

from typing import Protocol

import torch

from .heads import HeadLayout
from .rotary import Rotation


class AttentionContext(Protocol):
    """One step's view of the KV cache, shared by all layers of a forward pass."""

    def attend(
        self,
        layer: int,
        qkv: torch.Tensor,
        layout: HeadLayout,
        rotation: Rotation,
        *,
        scale: float,
        window: int | None = None,
        softcap: float | None = None,
        rows: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Stores this step's keys and values, then attends causally over each sequence's whole cache.

        qkv [T, (heads + 2 * kv_heads) * head_dim], not yet normalised or turned -> [R, heads * head_dim].
        `window` tokens back, itself included; None = all. `softcap` c applies c * tanh(score / c).
        `rows`: int64 [R], the tokens whose output is wanted; None = all T. The keys and values of all are stored.
        """
        ...
