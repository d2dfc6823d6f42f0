"""Parts that block layouts share. All take and give tensors with blocks along the first dimension."""

import torch


def halves(content: torch.Tensor) -> torch.Tensor:
    """uint8 [n, 2k] little-endian float16 -> float32 [n, k]"""
    return content.contiguous().view(torch.float16).float()


def nibbles(content: torch.Tensor) -> torch.Tensor:
    """uint8 [n, k] -> uint8 [n, 2k]: all low nibbles, then all high ones."""
    return torch.cat((content & 15, content >> 4), 1)


def fifth_bits(content: torch.Tensor) -> torch.Tensor:
    """uint8 [n, 4] -> uint8 [n, 32]: each bit as 16 or 0, the lowest first."""
    shifts = torch.arange(8, dtype=torch.uint8)
    return ((content[:, :, None] >> shifts & 1) << 4).view(len(content), 32)


def six_bit_scales(content: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """uint8 [n, 12] -> eight scales and eight minima of six bits, each float32 [n, 8]."""
    scales, minima, rest = content.split(4, 1)
    high = torch.cat((scales & 63, rest & 15 | scales >> 2 & 48), 1)
    low = torch.cat((minima & 63, rest >> 4 | minima >> 2 & 48), 1)
    return high.float(), low.float()
