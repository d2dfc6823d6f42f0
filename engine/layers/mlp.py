"""Gated feed-forward network: down(activation(gate(x)) * up(x))."""

import torch

from appliance.engine.checkpoint.config import ModelConfig

from .linear import Linear
from .parameters import Parameters


class GatedMLP:
    """[T, hidden_size] -> [T, hidden_size]"""

    __slots__ = ("activation", "down", "gate_up", "ops")

    def __init__(self, config: ModelConfig, parameters: Parameters) -> None:
        self.ops = parameters.ops
        self.activation = config.activation
        width = config.intermediate_size
        both = {"gate_proj": width, "up_proj": width}
        self.gate_up = Linear(parameters, config.hidden_size, both, config.mlp_bias)
        self.down = Linear(parameters, width, {"down_proj": config.hidden_size}, config.mlp_bias)

    def __call__(self, hidden: torch.Tensor) -> torch.Tensor:
        return self.down(self.ops.gate(self.activation, self.gate_up(hidden)))
