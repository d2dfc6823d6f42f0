"""Llama 3.1: long wavelengths are stretched by `factor`, short ones kept, those between blended."""

import math

import torch

from appliance.engine.checkpoint.config import RopeConfig

from . import default


def frequencies(config: RopeConfig, head_dim: int) -> tuple[torch.Tensor, float]:
    base, scale = default.frequencies(config, head_dim)
    turns = config.original_max_positions / (2 * math.pi / base)
    keep = (turns - config.low_freq_factor) / (config.high_freq_factor - config.low_freq_factor)
    blended = (1 - keep) * base / config.factor + keep * base
    stretched = torch.where(turns < config.low_freq_factor, base / config.factor, blended)
    return torch.where(turns > config.high_freq_factor, base, stretched), scale
