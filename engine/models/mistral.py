"""Mistral: as Llama, without biases; the early ones see a sliding window in every layer."""

from appliance.engine.layers.parameters import Parameters
from appliance.engine.layers.prenorm import PreNormDecoder
from appliance.engine.layers.self_attention import SelfAttention, sliding_window


class Mistral(PreNormDecoder):
    def attention(self, layer: int, parameters: Parameters) -> SelfAttention:
        return SelfAttention(self.config, layer, parameters, window=sliding_window(self.config, layer))
