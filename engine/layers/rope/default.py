"""Rotary frequencies as first published: theta ** (-2i / head_dim)."""

import torch

from appliance.engine.checkpoint.config import RopeConfig


def frequencies(config: RopeConfig, head_dim: int) -> tuple[torch.Tensor, float]:
    exponents = torch.arange(0, head_dim, 2, dtype=torch.float32) / head_dim
    return 1.0 / config.theta**exponents, 1.0
