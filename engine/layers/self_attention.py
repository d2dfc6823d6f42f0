"""Grouped-query self-attention of one layer: projections, head norms and rotation around the cache's `attend`."""

import torch

from appliance.engine.checkpoint.config import ModelConfig

from .attention import AttentionContext
from .heads import HeadLayout
from .linear import Linear
from .norm import HeadNorm
from .parameters import Parameters
from .rotary import Rotation


def sliding_window(config: ModelConfig, layer: int) -> int | None:
    """Tokens this layer sees, itself included; None = all."""
    return config.sliding_window if config.sliding_layers and config.sliding_layers[layer] else None


class SelfAttention:
    """[T, hidden_size] -> [T, hidden_size], or [R, hidden_size]"""

    def __init__(
        self,
        config: ModelConfig,
        layer: int,
        parameters: Parameters,
        *,
        qkv_bias: bool = False,
        output_bias: bool = False,
        norm: HeadNorm | None = None,
        window: int | None = None,
    ) -> None:
        self.layer = layer
        self.layout = HeadLayout(config.num_heads, config.num_kv_heads, config.head_dim, norm)
        self.scale = config.attention_scale
        self.softcap = config.attention_softcap
        self.window = window
        width, kv_width = config.num_heads * config.head_dim, config.num_kv_heads * config.head_dim
        parts = {"q_proj": width, "k_proj": kv_width, "v_proj": kv_width}
        self.qkv = Linear(parameters, config.hidden_size, parts, qkv_bias)
        self.output = Linear(parameters, width, {"o_proj": config.hidden_size}, output_bias)

    def __call__(
        self, hidden: torch.Tensor, rotation: Rotation, context: AttentionContext, rows: torch.Tensor | None = None
    ) -> torch.Tensor:
        """`rows`: int64 [R], the tokens whose output is wanted; the keys and values of all are stored."""
        mixed = context.attend(
            self.layer,
            self.qkv(hidden),
            self.layout,
            rotation,
            scale=self.scale,
            window=self.window,
            softcap=self.softcap,
            rows=rows,
        )
        return self.output(mixed)
