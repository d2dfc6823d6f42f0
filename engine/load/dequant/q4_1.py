"""Q4_1: 32 values of 4 bits, scale and minimum; d * q + m."""

import torch

from .fields import halves, nibbles


def decode(blocks: torch.Tensor) -> torch.Tensor:
    scale, minimum = halves(blocks[:, :4]).split(1, 1)
    return nibbles(blocks[:, 4:]).float().mul_(scale).add_(minimum)
