"""Q5_K: as Q4_K with a fifth bit per value, bit g of 32 bytes for group g."""

import torch

from .fields import halves, six_bit_scales


def decode(blocks: torch.Tensor) -> torch.Tensor:
    scale, minimum = halves(blocks[:, :4]).split(1, 1)
    scales, minima = six_bit_scales(blocks[:, 4:16])
    pairs = blocks[:, 48:].view(-1, 4, 1, 32)
    groups = torch.arange(8, dtype=torch.uint8)[:, None]
    fifth = (blocks[:, None, 16:48] >> groups & 1) << 4
    quanta = torch.cat((pairs & 15, pairs >> 4), 2).view(-1, 8, 32).bitwise_or_(fifth).float()
    return quanta.mul_((scale * scales)[..., None]).sub_((minimum * minima)[..., None]).view(-1, 256)
