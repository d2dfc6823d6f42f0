"""The stack that most architectures are: norms before attention and feed-forward, one rotation for all layers."""

from abc import ABC, abstractmethod

import torch

from appliance.engine.checkpoint.config import ModelConfig

from .attention import AttentionContext
from .decoder import Decoder
from .mlp import GatedMLP
from .norm import RMSNorm
from .parameters import Parameters
from .rotary import Rotary, Rotation
from .self_attention import SelfAttention


class PreNormBlock:
    """hidden += attention(norm(hidden)); hidden += mlp(norm(hidden)). May change `hidden` in place."""

    __slots__ = ("attention", "attention_norm", "mlp", "mlp_norm")

    def __init__(self, config: ModelConfig, parameters: Parameters, attention: SelfAttention) -> None:
        self.attention = attention
        self.mlp = GatedMLP(config, parameters.under("mlp"))
        size, eps = config.hidden_size, config.rms_norm_eps
        self.attention_norm = RMSNorm(parameters.under("input_layernorm"), size, eps)
        self.mlp_norm = RMSNorm(parameters.under("post_attention_layernorm"), size, eps)

    def __call__(
        self, hidden: torch.Tensor, rotation: Rotation, context: AttentionContext, rows: torch.Tensor | None = None
    ) -> torch.Tensor:
        attended = self.attention(self.attention_norm(hidden), rotation, context, rows)
        if rows is not None:
            hidden = hidden[rows]
        normed = self.mlp_norm.after_adding(hidden, attended)
        return hidden.add_(self.mlp(normed))


class PreNormDecoder(Decoder, ABC):
    """Architectures differ in the attention of a layer: they say which."""

    def __init__(self, config: ModelConfig, dtype: torch.dtype) -> None:
        super().__init__(config, dtype)
        self.rotary = Rotary(config.rope, config.head_dim, self.parameters.ops.rotation_dtype(dtype))
        self.blocks = []
        for layer in range(config.num_layers):
            parameters = self.body.under(f"layers.{layer}")
            attention = self.attention(layer, parameters.under("self_attn"))
            self.blocks.append(PreNormBlock(config, parameters, attention))
        self.norm = RMSNorm(self.body.under("norm"), config.hidden_size, config.rms_norm_eps)

    @abstractmethod
    def attention(self, layer: int, parameters: Parameters) -> SelfAttention:
        """Of one layer, its weights still empty."""

    def forward(
        self,
        input_ids: torch.Tensor,
        positions: torch.Tensor,
        context: AttentionContext,
        rows: torch.Tensor | None = None,
    ) -> torch.Tensor:
        hidden = self.embedding(input_ids)
        rotation = self.rotary(positions)
        for block in self.blocks[:-1]:
            hidden = block(hidden, rotation, context)
        return self.norm(self.blocks[-1](hidden, rotation, context, rows))
