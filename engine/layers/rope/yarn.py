"""YaRN: dimensions that turn often are kept, those that turn rarely interpolated, a ramp between; cos and sin grow."""

import math

import torch

from appliance.engine.checkpoint.config import RopeConfig

from . import default


def frequencies(config: RopeConfig, head_dim: int) -> tuple[torch.Tensor, float]:
    base, _ = default.frequencies(config, head_dim)
    low, high = _ramp(config, head_dim)
    interpolated = ((torch.arange(head_dim // 2, dtype=torch.float32) - low) / (high - low)).clamp(0, 1)
    kept = 1 - interpolated
    return base / config.factor * (1 - kept) + base * kept, _attention_factor(config)


def _ramp(config: RopeConfig, head_dim: int) -> tuple[float, float]:
    """First and last dimension of the ramp: where the original context makes beta_fast and beta_slow turns."""

    def dimension(turns: float) -> float:
        positions = config.original_max_positions / (turns * 2 * math.pi)
        return head_dim * math.log(positions) / (2 * math.log(config.theta))

    low, high = dimension(config.beta_fast), dimension(config.beta_slow)
    if config.truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, head_dim - 1)
    return low, high if high != low else high + 0.001


def _attention_factor(config: RopeConfig) -> float:
    def growth(mscale: float) -> float:
        return 0.1 * mscale * math.log(config.factor) + 1.0 if config.factor > 1 else 1.0

    if config.attention_factor is not None:
        return config.attention_factor
    if config.mscale and config.mscale_all_dim:
        return growth(config.mscale) / growth(config.mscale_all_dim)
    return growth(1.0)
