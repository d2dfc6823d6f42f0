"""Llama 2 and 3, SmolLM2, TinyLlama: grouped-query attention, gated SiLU feed-forward; Llama 3 scales its rotation."""

from appliance.engine.layers.parameters import Parameters
from appliance.engine.layers.prenorm import PreNormDecoder
from appliance.engine.layers.self_attention import SelfAttention


class Llama(PreNormDecoder):
    def attention(self, layer: int, parameters: Parameters) -> SelfAttention:
        config = self.config
        return SelfAttention(config, layer, parameters, qkv_bias=config.qkv_bias, output_bias=config.output_bias)
