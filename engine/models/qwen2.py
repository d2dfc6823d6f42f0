"""Qwen 2 and 2.5: biases on query, key and value projections only; upper layers may see a sliding window."""

from appliance.engine.layers.parameters import Parameters
from appliance.engine.layers.prenorm import PreNormDecoder
from appliance.engine.layers.self_attention import SelfAttention, sliding_window


class Qwen2(PreNormDecoder):
    def attention(self, layer: int, parameters: Parameters) -> SelfAttention:
        window = sliding_window(self.config, layer)
        return SelfAttention(self.config, layer, parameters, qkv_bias=True, window=window)
