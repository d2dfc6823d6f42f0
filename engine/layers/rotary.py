"""Rotary position embedding: one table lookup per forward pass, shared by all layers that turn alike."""

import torch

from appliance.engine.checkpoint.config import RopeConfig

from .rope import VARIANTS

FIRST_POSITIONS = 2048

Rotation = tuple[torch.Tensor, torch.Tensor]
"""cos and sin, each [T, 1, head_dim]; sin is negative in its first half."""


class Rotary:
    """Table of cos and sin, computed in float32, kept in `dtype`, doubled when a position lies beyond."""

    def __init__(self, config: RopeConfig, head_dim: int, dtype: torch.dtype) -> None:
        self.config = config
        self.head_dim = head_dim
        self.dtype = dtype
        self.table: torch.Tensor | None = None

    def __call__(self, positions: torch.Tensor) -> Rotation:
        """int64 [T] -> the rotation of each token."""
        last = int(positions.max())
        if self.table is None or last >= len(self.table):
            self.table = self._build(max(FIRST_POSITIONS, 1 << last.bit_length())).to(positions.device)
        cos, sin = self.table[positions].unbind(1)
        return cos, sin

    def _build(self, count: int) -> torch.Tensor:
        """[count, 2, 1, head_dim]"""
        frequencies, scale = VARIANTS[self.config.variant](self.config, self.head_dim)
        angles = torch.arange(count, dtype=torch.float32)[:, None] * frequencies
        cos, sin = angles.cos() * scale, angles.sin() * scale
        return torch.stack((cos, cos, -sin, sin), 1).view(count, 2, 1, self.head_dim).to(self.dtype)


def rotate(heads: torch.Tensor, rotation: Rotation) -> torch.Tensor:
    """[T, heads, head_dim] -> the same, turned; the second half of a head pairs with the first."""
    cos, sin = rotation
    return (heads * cos).addcmul_(heads.roll(heads.shape[-1] // 2, -1), sin)
