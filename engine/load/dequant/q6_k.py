"""Q6_K: 16 groups of 16 values of 6 bits (four and two bits apart); signed group scales under one; d * s * (q - 32)."""

import torch

from .fields import halves


def decode(blocks: torch.Tensor) -> torch.Tensor:
    low = blocks[:, :128].view(-1, 2, 1, 64)
    low = torch.cat((low & 15, low >> 4), 2).view(-1, 2, 4, 32)
    shifts = torch.arange(0, 8, 2, dtype=torch.uint8)[:, None]
    high = (blocks[:, 128:192].view(-1, 2, 1, 32) >> shifts & 3) << 4
    scales = blocks[:, 192:208].view(torch.int8).float() * halves(blocks[:, 208:])
    quanta = low.bitwise_or_(high).view(-1, 16, 16).float()
    return quanta.sub_(32).mul_(scales[..., None]).view(-1, 256)
