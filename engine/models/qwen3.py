"""Qwen 3 (dense): every query and key head is normalised before the rotation; the head size is free of hidden_size."""

from appliance.engine.layers.norm import HeadNorm
from appliance.engine.layers.parameters import Parameters
from appliance.engine.layers.prenorm import PreNormDecoder
from appliance.engine.layers.self_attention import SelfAttention, sliding_window


class Qwen3(PreNormDecoder):
    def attention(self, layer: int, parameters: Parameters) -> SelfAttention:
        config = self.config
        return SelfAttention(
            config,
            layer,
            parameters,
            qkv_bias=config.qkv_bias,
            output_bias=config.output_bias,
            norm=HeadNorm(parameters, config.num_heads, config.num_kv_heads, config.head_dim, config.rms_norm_eps),
            window=sliding_window(config, layer),
        )
