"""Q4_0: 32 values of 4 bits, one scale; d * (q - 8)."""

import torch

from .fields import halves, nibbles


def decode(blocks: torch.Tensor) -> torch.Tensor:
    return nibbles(blocks[:, 2:]).float().sub_(8).mul_(halves(blocks[:, :2]))
