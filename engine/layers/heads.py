"""What becomes of a token's projections before attention: heads, normalised where the model does so, and turned."""

from dataclasses import dataclass

import torch

from .norm import HeadNorm
from .rotary import Rotation, rotate


@dataclass(frozen=True)
class HeadLayout:
    """How queries, keys and values lie in [T, (heads + 2 * kv_heads) * head_dim]."""

    heads: int
    kv_heads: int
    head_dim: int
    norm: HeadNorm | None = None
    """Of queries and keys, before the rotation."""

    def split(self, qkv: torch.Tensor, rotation: Rotation) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """query [T, heads, head_dim], key and value [T, kv_heads, head_dim]; the first two turned."""
        by_head = qkv.view(len(qkv), -1, self.head_dim)
        rotated = self.heads + self.kv_heads
        turned = by_head[:, :rotated]
        if self.norm is not None:
            turned = self.norm(turned)
        turned = rotate(turned, rotation).to(qkv.dtype)
        return turned[:, : self.heads], turned[:, self.heads :], by_head[:, rotated:]
