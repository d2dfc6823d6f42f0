"""Position interpolation: every frequency divided by `factor`."""

import torch

from appliance.engine.checkpoint.config import RopeConfig

from . import default


def frequencies(config: RopeConfig, head_dim: int) -> tuple[torch.Tensor, float]:
    base, scale = default.frequencies(config, head_dim)
    return base / config.factor, scale
