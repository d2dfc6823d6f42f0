"""Q4_K: 8 groups of 32 values of 4 bits; group scales and minima of 6 bits under one scale each; d * s * q - e * m."""

import torch

from .fields import halves, six_bit_scales


def decode(blocks: torch.Tensor) -> torch.Tensor:
    scale, minimum = halves(blocks[:, :4]).split(1, 1)
    scales, minima = six_bit_scales(blocks[:, 4:16])
    pairs = blocks[:, 16:].view(-1, 4, 1, 32)
    quanta = torch.cat((pairs & 15, pairs >> 4), 2).view(-1, 8, 32).float()
    return quanta.mul_((scale * scales)[..., None]).sub_((minimum * minima)[..., None]).view(-1, 256)
