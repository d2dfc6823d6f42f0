"""The border to config.json: all guessing about keys, older names and absent values is here and in hf_rope.py.

Defaults are those of the Transformers config class of each architecture: its `save_pretrained` omits some of them.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from .config import ModelConfig
from .errors import CheckpointError
from .fields import Fields, read_json, shorten
from .hf_rope import read_gemma_rope, read_rope

MOST_LAYERS = 4096
SILU = ("silu", "swish")
GELU_TANH = ("gelu_pytorch_tanh", "gelu_new")


def read_config(folder: Path) -> ModelConfig:
    """The model in `folder`; `stored_dtype` is what config.json says, the caller knows better from the tensors."""
    path = folder / "config.json"
    fields = Fields(str(path), read_json(path))
    names = architectures(fields)
    known = next((name for name in names if name in BORDERS), None)
    if known is None:
        raise unsupported(str(path), ", ".join(names))
    quantised = fields.section("quantization_config")
    if quantised is not None:
        raise CheckpointError(
            str(path),
            f"weights are quantised with {shorten(quantised.text('quant_method', 'unnamed'))}, which is not supported",
            "use the unquantised checkpoint or a GGUF of it",
        )
    return BORDERS[known](fields)


def architectures(fields: Fields) -> tuple[str, ...]:
    names = fields.tree.get("architectures")
    if names is None:
        return ()
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise fields.wrong("architectures", "a list of names")
    return tuple(names)


def unsupported(path: str, name: str) -> CheckpointError:
    return CheckpointError(
        path, f"architecture {shorten(name)} is not one of the native engine", f"supported: {', '.join(BORDERS)}"
    )


def _common(fields: Fields, architecture: str, *, tied: bool, default_kv_heads: int | None = None) -> ModelConfig:
    hidden, heads = fields.integer("hidden_size"), fields.integer("num_attention_heads")
    absent = "num_key_value_heads" not in fields.tree
    kv_heads = fields.integer("num_key_value_heads", default_kv_heads if absent and default_kv_heads else heads)
    head_dim = fields.integer("head_dim", hidden // heads or 1, most=65536)
    if heads % kv_heads:
        raise fields.wrong("num_key_value_heads", f"a divisor of num_attention_heads ({heads})")
    if head_dim % 2:
        raise CheckpointError(fields.path, f"head_dim is {head_dim}, expected an even number (rotary embedding)")
    return ModelConfig(
        architecture=architecture,
        vocab_size=fields.integer("vocab_size"),
        hidden_size=hidden,
        intermediate_size=fields.integer("intermediate_size"),
        num_layers=fields.integer("num_hidden_layers", most=MOST_LAYERS),
        num_heads=heads,
        num_kv_heads=kv_heads,
        head_dim=head_dim,
        max_positions=fields.integer("max_position_embeddings"),
        rms_norm_eps=fields.number("rms_norm_eps", 1e-6),
        rope=read_rope(fields) if architecture != "Gemma3ForCausalLM" else read_gemma_rope(fields)[0],
        tie_embeddings=fields.boolean("tie_word_embeddings", tied),
        attention_scale=head_dim**-0.5,
        stored_dtype=fields.text("dtype", fields.text("torch_dtype", "float32")).removeprefix("torch."),
        bos_token_id=next(iter(fields.token_ids("bos_token_id")), None),
        eos_token_ids=fields.token_ids("eos_token_id"),
    )


def _activation(fields: Fields, key: str, allowed: tuple[str, ...], default: str) -> None:
    if fields.text(key, default) not in allowed:
        raise fields.wrong(key, " or ".join(allowed))


def _layer_types(fields: Fields, layers: int, otherwise: Callable[[int], bool]) -> tuple[bool, ...]:
    """Per layer: sliding? From layer_types where the file has it."""
    types = fields.tree.get("layer_types")
    if types is None:
        return tuple(otherwise(layer) for layer in range(layers))
    allowed = ("sliding_attention", "full_attention")
    if not isinstance(types, list) or len(types) != layers or any(kind not in allowed for kind in types):
        raise fields.wrong("layer_types", f"{layers} entries of {' or '.join(allowed)}")
    return tuple(kind == "sliding_attention" for kind in types)


def _with_window(config: ModelConfig, window: int | None, sliding: tuple[bool, ...]) -> ModelConfig:
    if window is None or not any(sliding):
        return config
    return replace(config, sliding_window=window, sliding_layers=sliding)


def _llama(fields: Fields) -> ModelConfig:
    _activation(fields, "hidden_act", SILU, "silu")
    bias = fields.boolean("attention_bias", False)
    return replace(
        _common(fields, "LlamaForCausalLM", tied=False),
        qkv_bias=bias,
        output_bias=bias,
        mlp_bias=fields.boolean("mlp_bias", False),
    )


def _mistral(fields: Fields) -> ModelConfig:
    _activation(fields, "hidden_act", SILU, "silu")
    config = _common(fields, "MistralForCausalLM", tied=False, default_kv_heads=8)
    window = fields.optional_integer("sliding_window") if "sliding_window" in fields.tree else 4096
    return _with_window(config, window, (True,) * config.num_layers)


def _qwen_window(fields: Fields, config: ModelConfig) -> ModelConfig:
    if not fields.boolean("use_sliding_window", False):
        return config
    window = fields.optional_integer("sliding_window") if "sliding_window" in fields.tree else 4096
    first = fields.integer("max_window_layers", 28, least=0)
    return _with_window(config, window, _layer_types(fields, config.num_layers, lambda layer: layer >= first))


def _qwen2(fields: Fields) -> ModelConfig:
    _activation(fields, "hidden_act", SILU, "silu")
    config = _common(fields, "Qwen2ForCausalLM", tied=False, default_kv_heads=32)
    return replace(_qwen_window(fields, config), qkv_bias=True)


def _qwen3(fields: Fields) -> ModelConfig:
    _activation(fields, "hidden_act", SILU, "silu")
    if fields.tree.get("head_dim") is None:
        fields = Fields(fields.path, {**fields.tree, "head_dim": 128})
    bias = fields.boolean("attention_bias", False)
    config = _common(fields, "Qwen3ForCausalLM", tied=False, default_kv_heads=32)
    return replace(_qwen_window(fields, config), qkv_bias=bias, output_bias=bias, qk_norm=True)


def _gemma3(fields: Fields) -> ModelConfig:
    # Older files carry hidden_act (unused, "gelu") beside the hidden_activation that counts.
    _activation(fields, "hidden_activation", GELU_TANH, "gelu_pytorch_tanh")
    if fields.boolean("use_bidirectional_attention", False):
        raise fields.wrong("use_bidirectional_attention", "false: the native engine decodes causally")
    if fields.tree.get("head_dim") is None:
        fields = Fields(fields.path, {**fields.tree, "head_dim": 256})
    config = _common(fields, "Gemma3ForCausalLM", tied=True, default_kv_heads=4)
    bias = fields.boolean("attention_bias", False)
    pattern = fields.integer("sliding_window_pattern", fields.integer("_sliding_window_pattern", 6))
    sliding = _layer_types(fields, config.num_layers, lambda layer: (layer + 1) % pattern != 0)
    window = fields.optional_integer("sliding_window") if "sliding_window" in fields.tree else 4096
    config = replace(
        config,
        activation="gelu_tanh",
        local_rope=read_gemma_rope(fields)[1],
        qkv_bias=bias,
        output_bias=bias,
        qk_norm=True,
        attention_scale=fields.number("query_pre_attn_scalar", 256.0) ** -0.5,
        attention_softcap=fields.optional_number("attn_logit_softcapping"),
        logit_softcap=fields.optional_number("final_logit_softcapping"),
        embedding_scale=config.hidden_size**0.5,
    )
    if window is None and any(sliding):
        raise fields.wrong("sliding_window", "the tokens a sliding layer sees")
    return _with_window(config, window, sliding)


BORDERS: dict[str, Callable[[Fields], ModelConfig]] = {
    "LlamaForCausalLM": _llama,
    "MistralForCausalLM": _mistral,
    "Qwen2ForCausalLM": _qwen2,
    "Qwen3ForCausalLM": _qwen3,
    "Gemma3ForCausalLM": _gemma3,
}
