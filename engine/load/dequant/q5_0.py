"""Q5_0: 32 values of 5 bits, the fifth ones apart, one scale; d * (q - 16)."""

import torch

from .fields import fifth_bits, halves, nibbles


def decode(blocks: torch.Tensor) -> torch.Tensor:
    quanta = nibbles(blocks[:, 6:]).bitwise_or_(fifth_bits(blocks[:, 2:6]))
    return quanta.float().sub_(16).mul_(halves(blocks[:, :2]))
