"""Rotary frequencies by variant: RopeConfig, head_dim -> [head_dim / 2] radians per token, scale of cos and sin."""

from collections.abc import Callable

import torch

from appliance.engine.checkpoint.config import RopeConfig

from . import default, linear, llama3, yarn

VARIANTS: dict[str, Callable[[RopeConfig, int], tuple[torch.Tensor, float]]] = {
    "default": default.frequencies,
    "linear": linear.frequencies,
    "llama3": llama3.frequencies,
    "yarn": yarn.frequencies,
}
