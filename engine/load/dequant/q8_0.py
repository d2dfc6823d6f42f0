"""Q8_0: 32 signed bytes, one scale; d * q."""

import torch

from .fields import halves


def decode(blocks: torch.Tensor) -> torch.Tensor:
    return blocks[:, 2:].view(torch.int8).float().mul_(halves(blocks[:, :2]))
