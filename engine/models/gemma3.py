"""Gemma 3 text: norms before and after attention and feed-forward, all with weight 1 + w; normalised heads.

Sliding layers turn by their own rotation, full layers by the long-range one; embeddings are scaled by sqrt(hidden).
"""

import torch

from appliance.engine.checkpoint.config import ModelConfig
from appliance.engine.layers.attention import AttentionContext
from appliance.engine.layers.decoder import Decoder
from appliance.engine.layers.mlp import GatedMLP
from appliance.engine.layers.norm import HeadNorm, RMSNorm
from appliance.engine.layers.parameters import Parameters
from appliance.engine.layers.rotary import Rotary, Rotation
from appliance.engine.layers.self_attention import SelfAttention, sliding_window


class Block:
    """hidden += norm(attention(norm(hidden))); hidden += norm(mlp(norm(hidden))). May change `hidden` in place."""

    def __init__(self, config: ModelConfig, layer: int, parameters: Parameters) -> None:
        def norm(name: str) -> RMSNorm:
            return RMSNorm(parameters.under(name), config.hidden_size, config.rms_norm_eps, offset=True)

        self.window = sliding_window(config, layer)
        attention = parameters.under("self_attn")
        heads = HeadNorm(
            attention, config.num_heads, config.num_kv_heads, config.head_dim, config.rms_norm_eps, offset=True
        )
        self.attention = SelfAttention(
            config,
            layer,
            attention,
            qkv_bias=config.qkv_bias,
            output_bias=config.output_bias,
            norm=heads,
            window=self.window,
        )
        self.mlp = GatedMLP(config, parameters.under("mlp"))
        self.before_attention = norm("input_layernorm")
        self.after_attention = norm("post_attention_layernorm")
        self.before_mlp = norm("pre_feedforward_layernorm")
        self.after_mlp = norm("post_feedforward_layernorm")

    def __call__(
        self, hidden: torch.Tensor, rotation: Rotation, context: AttentionContext, rows: torch.Tensor | None = None
    ) -> torch.Tensor:
        attended = self.attention(self.before_attention(hidden), rotation, context, rows)
        if rows is not None:
            hidden = hidden[rows]
        normed = self.before_mlp.after_adding(hidden, self.after_attention(attended))
        return hidden.add_(self.after_mlp(self.mlp(normed)))


class Gemma3(Decoder):
    def __init__(self, config: ModelConfig, dtype: torch.dtype) -> None:
        super().__init__(config, dtype)
        # The published models round this factor to the dtype of the embeddings.
        self.embedding_scale = torch.tensor(config.embedding_scale, dtype=dtype)
        turning = self.parameters.ops.rotation_dtype(dtype)
        self.full_rotary = Rotary(config.rope, config.head_dim, turning)
        self.local_rotary = Rotary(config.local_rope or config.rope, config.head_dim, turning)
        self.blocks = [Block(config, layer, self.body.under(f"layers.{layer}")) for layer in range(config.num_layers)]
        self.norm = RMSNorm(self.body.under("norm"), config.hidden_size, config.rms_norm_eps, offset=True)

    def forward(
        self,
        input_ids: torch.Tensor,
        positions: torch.Tensor,
        context: AttentionContext,
        rows: torch.Tensor | None = None,
    ) -> torch.Tensor:
        hidden = self.embedding(input_ids).mul_(self.embedding_scale)
        full, local = self.full_rotary(positions), self.local_rotary(positions)
        for block in self.blocks:
            wanted = rows if block is self.blocks[-1] else None
            hidden = block(hidden, full if block.window is None else local, context, wanted)
        return self.norm(hidden)
