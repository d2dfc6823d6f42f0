"""The GGUF that llama.cpp's converter would write for a small Transformers folder, made with the gguf library."""

from pathlib import Path
from typing import Any

import gguf
import numpy as np
from gguf_files import finish
from safetensors.numpy import load_file

NAMES = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
}
NORMS = {
    "gemma3": {
        "post_attention_layernorm": "post_attention_norm",
        "pre_feedforward_layernorm": "ffn_norm",
        "post_feedforward_layernorm": "post_ffw_norm",
    }
}
WHOLE = {
    "model.embed_tokens.weight": "token_embd.weight",
    "model.norm.weight": "output_norm.weight",
    "lm_head.weight": "output.weight",
}


def write_twin(
    folder: Path, path: Path, arch: str, fields: dict[str, Any], kind: str = "F32", extra: dict[str, Any] | None = None
) -> Path:
    """`fields` are Transformers' config fields of the folder; matrices are stored as `kind`, vectors as F32."""
    writer = gguf.GGUFWriter(path, arch)
    add_fields(writer, arch, fields)
    quantisation = gguf.GGMLQuantizationType[kind]
    for name, values in load_file(folder / "model.safetensors").items():
        values = stored_values(arch, name, values.astype(np.float32), fields)
        if values.ndim == 1 or kind == "F32":
            writer.add_tensor(gguf_name(arch, name), values)
        else:
            content = gguf.quants.quantize(values, quantisation)
            writer.add_tensor(gguf_name(arch, name), content, raw_dtype=quantisation)
    for name, values in (extra or {}).items():
        writer.add_tensor(name, values)
    finish(writer)
    return path


def add_fields(writer: gguf.GGUFWriter, arch: str, fields: dict[str, Any]) -> None:
    writer.add_embedding_length(fields["hidden_size"])
    writer.add_feed_forward_length(fields["intermediate_size"])
    writer.add_block_count(fields["num_hidden_layers"])
    writer.add_head_count(fields["num_attention_heads"])
    writer.add_head_count_kv(fields["num_key_value_heads"])
    writer.add_key_length(fields["head_dim"])
    writer.add_value_length(fields["head_dim"])
    writer.add_context_length(fields["max_position_embeddings"])
    writer.add_layer_norm_rms_eps(fields["rms_norm_eps"])
    if arch == "gemma3":
        writer.add_sliding_window(fields["sliding_window"])
        writer.add_array("gemma3.attention.sliding_window_pattern", fields["sliding_pattern"])
        writer.add_rope_freq_base(1e6)
    else:
        writer.add_rope_freq_base(fields["rope_theta"])


def gguf_name(arch: str, name: str) -> str:
    if name in WHOLE:
        return WHOLE[name]
    _, _, layer, part = name.split(".", 3)
    stem, ending = part.rsplit(".", 1)
    names = NAMES | NORMS.get(arch, {"post_attention_layernorm": "ffn_norm"})
    return f"blk.{layer}.{names[stem]}.{ending}"


def stored_values(arch: str, name: str, values: np.ndarray, fields: dict[str, Any]) -> np.ndarray:
    if arch == "gemma3" and name.endswith("norm.weight"):
        return values + 1
    heads = {"q_proj": "num_attention_heads", "k_proj": "num_key_value_heads"}
    count = next((fields[field] for part, field in heads.items() if part in name), 0)
    if arch != "llama" or not count:
        return values
    return values.reshape(count, 2, -1, *values.shape[1:]).swapaxes(1, 2).reshape(values.shape)
