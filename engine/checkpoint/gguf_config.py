"""The border to GGUF metadata: keys and tensors become a ModelConfig with a Hugging Face architecture name."""

import math
import struct
from dataclasses import replace
from pathlib import Path

from .config import ModelConfig, RopeConfig
from .dtypes import TensorInfo, dominant_dtype
from .errors import CheckpointError
from .fields import Fields, shorten
from .generation import read_sampling
from .gguf_header import GGUFHeader
from .hf_config import MOST_LAYERS

ARCHITECTURES = {
    "llama": "LlamaForCausalLM",
    "qwen2": "Qwen2ForCausalLM",
    "qwen3": "Qwen3ForCausalLM",
    "gemma3": "Gemma3ForCausalLM",
}
LLAMA3_LOW, LLAMA3_HIGH, LLAMA3_ORIGINAL = 1.0, 4.0, 8192
GEMMA3_27B_LAYERS = 62
SAMPLING_KEYS = {
    "general.sampling.temp": "temperature",
    "general.sampling.top_p": "top_p",
    "general.sampling.top_k": "top_k",
    "general.sampling.min_p": "min_p",
    "general.sampling.penalty_repeat": "repetition_penalty",
}
END_KEYS = ("eos_token_id", "eot_token_id", "eom_token_id")


def read_config(path: str, header: GGUFHeader) -> ModelConfig:
    """CheckpointError names what is missing, contradictory or unsupported."""
    fields = Fields(path, header.metadata)
    arch = fields.text("general.architecture")
    if fields.integer("split.count", 1, least=0) > 1:
        raise CheckpointError(path, "is one part of a split GGUF", "merge the parts into one file")
    if arch not in ARCHITECTURES:
        raise CheckpointError(
            path,
            f"GGUF architecture {shorten(arch)} is not one of the native engine",
            f"supported: {', '.join(ARCHITECTURES)}",
        )
    own = Fields(path, {key.removeprefix(f"{arch}."): value for key, value in header.metadata.items()})
    tensors = {tensor.name: tensor for tensor in header.tensors}
    if "token_embd.weight" not in tensors or len(tensors["token_embd.weight"].shape) != 2:
        raise CheckpointError(path, "has no matrix token_embd.weight", "use a GGUF of a whole text model")
    hidden, heads = own.integer("embedding_length"), own.integer("attention.head_count")
    head_dim = own.integer("attention.key_length", hidden // heads or 1, most=65536)
    kv_heads = own.integer("attention.head_count_kv", heads)
    _check_heads(own, head_dim, heads, kv_heads)
    config = ModelConfig(
        architecture=ARCHITECTURES[arch],
        vocab_size=tensors["token_embd.weight"].shape[0],
        hidden_size=hidden,
        intermediate_size=own.integer("feed_forward_length"),
        num_layers=own.integer("block_count", most=MOST_LAYERS),
        num_heads=heads,
        num_kv_heads=kv_heads,
        head_dim=head_dim,
        max_positions=own.integer("context_length"),
        rms_norm_eps=own.number("attention.layer_norm_rms_epsilon", 1e-6),
        rope=_rope(own, tensors.get("rope_freqs.weight"), head_dim, 1e6 if arch == "gemma3" else 1e4),
        tie_embeddings="output.weight" not in tensors,
        qkv_bias="blk.0.attn_q.bias" in tensors,
        output_bias="blk.0.attn_output.bias" in tensors,
        mlp_bias="blk.0.ffn_gate.bias" in tensors,
        qk_norm="blk.0.attn_q_norm.weight" in tensors,
        attention_scale=own.number("attention.scale", head_dim**-0.5),
        attention_softcap=own.optional_number("attn_logit_softcapping"),
        logit_softcap=own.optional_number("final_logit_softcapping"),
        stored_dtype=dominant_dtype(header.tensors),
        bos_token_id=fields.optional_integer("tokenizer.ggml.bos_token_id", least=0),
        eos_token_ids=_end_ids(fields),
    )
    if own.integer("expert_count", 0, least=0):
        raise own.wrong("expert_count", "none: mixtures of experts are not supported")
    if arch == "gemma3":
        return _gemma3(own, config)
    window = own.optional_integer("attention.sliding_window", least=0) if arch == "llama" else None
    if window:
        sliding = (True,) * config.num_layers
        return replace(config, architecture="MistralForCausalLM", sliding_window=window, sliding_layers=sliding)
    return config


def sampling_defaults(path: str, header: GGUFHeader) -> dict[str, float]:
    return read_sampling(Fields(path, header.metadata), SAMPLING_KEYS)


def is_embedding(header: GGUFHeader) -> bool:
    """A pooling type other than none (0) marks an embedding model."""
    arch = header.metadata.get("general.architecture")
    return bool(header.metadata.get(f"{arch}.pooling_type", 0))


def _check_heads(own: Fields, head_dim: int, heads: int, kv_heads: int) -> None:
    if own.integer("attention.value_length", head_dim) != head_dim:
        raise own.wrong("attention.value_length", f"the key length ({head_dim})")
    if own.integer("rope.dimension_count", head_dim) != head_dim:
        raise own.wrong("rope.dimension_count", f"the head size ({head_dim}): partly rotated heads are not supported")
    if heads % kv_heads:
        raise own.wrong("attention.head_count_kv", f"a divisor of attention.head_count ({heads})")
    if head_dim % 2:
        raise CheckpointError(own.path, f"head size is {head_dim}, expected an even number (rotary embedding)")


def _end_ids(fields: Fields) -> tuple[int, ...]:
    ids = (fields.optional_integer(f"tokenizer.ggml.{key}", least=0) for key in END_KEYS)
    return tuple(dict.fromkeys(token for token in ids if token is not None))


def _rope(own: Fields, factors: TensorInfo | None, head_dim: int, default_theta: float) -> RopeConfig:
    theta = own.number("rope.freq_base", default_theta)
    if factors is not None:
        return _llama3_rope(own.path, factors, theta, head_dim)
    variant = own.text("rope.scaling.type", "linear" if "rope.scale_linear" in own.tree else "none")
    factor = own.number("rope.scaling.factor", own.number("rope.scale_linear", 1.0))
    if variant == "none" or (variant == "linear" and factor == 1.0):
        return RopeConfig(theta=theta)
    if variant == "linear":
        return RopeConfig(theta=theta, variant="linear", factor=factor)
    if variant != "yarn":
        raise own.wrong("rope.scaling.type", "none, linear or yarn")
    scale = own.number("rope.scaling.attn_factor", own.number("rope.scaling.yarn_attn_factor", 1.0))
    return RopeConfig(
        theta=theta,
        variant="yarn",
        factor=factor,
        original_max_positions=own.integer("rope.scaling.original_context_length", own.integer("context_length")),
        beta_fast=own.number("rope.scaling.yarn_beta_fast", 32.0),
        beta_slow=own.number("rope.scaling.yarn_beta_slow", 1.0),
        attention_factor=None if scale == 1.0 else scale * (0.1 * math.log(factor) + 1.0),
    )


def _llama3_rope(path: str, tensor: TensorInfo, theta: float, head_dim: int) -> RopeConfig:
    """GGUF stores llama3 scaling as one divisor per frequency: find the parameters that give exactly these divisors."""
    if tensor.dtype != "F32" or tensor.elements != head_dim // 2:
        raise CheckpointError(
            path, f"rope_freqs.weight is {tensor.dtype} {tensor.shape}, expected F32 ({head_dim // 2},)"
        )
    with Path(path).open("rb") as file:
        file.seek(tensor.offset)
        seen = struct.unpack(f"<{tensor.elements}f", file.read(tensor.nbytes))
    factor = max(seen)
    if not 1.0 <= factor < 1e6 or any(
        not math.isclose(value, llama3_divisor(index, theta, head_dim, factor), rel_tol=1e-3)
        for index, value in enumerate(seen)
    ):
        raise CheckpointError(path, "rope_freqs.weight does not hold a llama3 scaling, the only one supported there")
    return RopeConfig(
        theta=theta,
        variant="llama3",
        factor=factor,
        original_max_positions=LLAMA3_ORIGINAL,
        low_freq_factor=LLAMA3_LOW,
        high_freq_factor=LLAMA3_HIGH,
    )


def llama3_divisor(index: int, theta: float, head_dim: int, factor: float) -> float:
    """By how much llama3 scaling divides frequency `index` of `head_dim // 2`."""
    turns = LLAMA3_ORIGINAL / (2 * math.pi * math.pow(theta, 2 * index / head_dim))
    if turns > LLAMA3_HIGH:
        return 1.0
    if turns < LLAMA3_LOW:
        return factor
    smooth = (turns - LLAMA3_LOW) / (LLAMA3_HIGH - LLAMA3_LOW)
    return 1.0 / ((1.0 - smooth) / factor + smooth)


def _gemma3(own: Fields, config: ModelConfig) -> ModelConfig:
    pattern = own.tree.get("attention.sliding_window_pattern", 6)
    layers = range(config.num_layers)
    if isinstance(pattern, list) and len(pattern) == config.num_layers:
        sliding = tuple(bool(entry) for entry in pattern)
    elif type(pattern) is int and pattern > 0:
        sliding = tuple((layer + 1) % pattern != 0 for layer in layers)
    else:
        raise own.wrong("attention.sliding_window_pattern", f"a number or {config.num_layers} entries")
    # The format has no key for the 27B model's scale, hidden_size / heads instead of the head size.
    scale = (config.hidden_size / config.num_heads) ** -0.5 if config.num_layers == GEMMA3_27B_LAYERS else None
    return replace(
        config,
        activation="gelu_tanh",
        local_rope=RopeConfig(theta=own.number("rope.freq_base_swa", 10_000.0)),
        attention_scale=own.number("attention.scale", scale or config.attention_scale),
        sliding_window=own.integer("attention.sliding_window"),
        sliding_layers=sliding,
        embedding_scale=config.hidden_size**0.5,
    )
