"""Grouped-query self-attention of one layer: projections, head norms and rotation around the cache's `attend`."""

from collections.abc import Callable

import torch

from appliance.engine.checkpoint.config import ModelConfig

from .attention import AttentionContext
from .linear import Linear
from .parameters import Parameters
from .rotary import Rotation, rotate


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
        norm: Callable[[torch.Tensor], torch.Tensor] | None = None,
        window: int | None = None,
    ) -> None:
        """`norm` acts on queries and keys together, [T, heads + kv_heads, head_dim], before the rotation."""
        self.layer = layer
        self.heads = config.num_heads
        self.rotated = config.num_heads + config.num_kv_heads
        self.head_dim = config.head_dim
        self.norm = norm
        self.scale = config.attention_scale
        self.softcap = config.attention_softcap
        self.window = window
        width, kv_width = self.heads * self.head_dim, config.num_kv_heads * self.head_dim
        parts = {"q_proj": width, "k_proj": kv_width, "v_proj": kv_width}
        self.qkv = Linear(parameters, config.hidden_size, parts, qkv_bias)
        self.output = Linear(parameters, width, {"o_proj": config.hidden_size}, output_bias)

    def __call__(
        self, hidden: torch.Tensor, rotation: Rotation, context: AttentionContext, rows: torch.Tensor | None = None
    ) -> torch.Tensor:
        """`rows`: int64 [R], the tokens whose output is wanted; the keys and values of all are stored."""
        tokens = hidden.shape[0]
        qkv = self.qkv(hidden).view(tokens, -1, self.head_dim)
        queries_and_keys = qkv[:, : self.rotated]
        if self.norm is not None:
            queries_and_keys = self.norm(queries_and_keys)
        turned = rotate(queries_and_keys, rotation)
        mixed = context.attend(
            self.layer,
            turned[:, : self.heads],
            turned[:, self.heads :],
            qkv[:, self.rotated :],
            scale=self.scale,
            window=self.window,
            softcap=self.softcap,
        )
        mixed = mixed.flatten(1)
        return self.output(mixed if rows is None else mixed[rows])
