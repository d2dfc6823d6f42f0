"""GGUF tensor names to Hugging Face names, and where the two formats hold different numbers under them."""

import re

LAYER = re.compile(r"blk\.(\d+)\.(.+)\.(weight|bias)")
WHOLE = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
    "output.weight": "lm_head.weight",
}
# llama3 scaling as divisors; the border already read it into RopeConfig.
SKIPPED = frozenset({"rope_freqs.weight"})
COMMON = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "attn_norm": "input_layernorm",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
PRE_NORM = COMMON | {"ffn_norm": "post_attention_layernorm"}
SANDWICH = COMMON | {
    "post_attention_norm": "post_attention_layernorm",
    "ffn_norm": "pre_feedforward_layernorm",
    "post_ffw_norm": "post_feedforward_layernorm",
}
NAMES: dict[str, dict[str, str]] = {
    "LlamaForCausalLM": PRE_NORM,
    "MistralForCausalLM": PRE_NORM,
    "Qwen2ForCausalLM": PRE_NORM,
    "Qwen3ForCausalLM": PRE_NORM,
    "Gemma3ForCausalLM": SANDWICH,
}
# Query and key rows of these are stored with the two halves of each head interleaved.
INTERLEAVED = frozenset({"LlamaForCausalLM", "MistralForCausalLM"})
# Norm weights of these are stored as 1 + w.
NORM_PLUS_ONE = frozenset({"Gemma3ForCausalLM"})


def hf_name(architecture: str, name: str) -> str:
    """An unknown name stands as it is, so that the model refuses it by the name in the file."""
    if name in WHOLE:
        return WHOLE[name]
    found = LAYER.fullmatch(name)
    part = NAMES[architecture].get(found[2]) if found else None
    return f"model.layers.{found[1]}.{part}.{found[3]}" if found and part else name
