"""Q5_1: 32 values of 5 bits, the fifth ones apart, scale and minimum; d * q + m."""

import torch

from .fields import fifth_bits, halves, nibbles


def decode(blocks: torch.Tensor) -> torch.Tensor:
    scale, minimum = halves(blocks[:, :4]).split(1, 1)
    quanta = nibbles(blocks[:, 8:]).bitwise_or_(fifth_bits(blocks[:, 4:8]))
    return quanta.float().mul_(scale).add_(minimum)
