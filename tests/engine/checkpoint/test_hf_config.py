"""config.json of every supported architecture, by Transformers and by hand in the older forms, read back."""

import json
from pathlib import Path
from typing import Any

import pytest
from transformers import Gemma3TextConfig, LlamaConfig, MistralConfig, Qwen2Config, Qwen3Config

from appliance.engine.checkpoint import CheckpointError, RopeConfig
from appliance.engine.checkpoint.hf_config import BORDERS, read_config

SIZES = {
    "vocab_size": 96,
    "hidden_size": 64,
    "intermediate_size": 80,
    "num_hidden_layers": 7,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 4096,
}
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 500000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 1024,
}
YARN = {"rope_type": "yarn", "rope_theta": 1e6, "factor": 4.0, "original_max_position_embeddings": 1024}
CASES: dict[str, tuple[type, str, dict[str, Any]]] = {
    "llama": (LlamaConfig, "LlamaForCausalLM", {}),
    "llama tied, biased": (
        LlamaConfig,
        "LlamaForCausalLM",
        {"tie_word_embeddings": True, "attention_bias": True, "mlp_bias": True, "head_dim": 32},
    ),
    "llama3 rope": (LlamaConfig, "LlamaForCausalLM", {"rope_parameters": LLAMA3}),
    "llama linear rope": (
        LlamaConfig,
        "LlamaForCausalLM",
        {"rope_parameters": {"rope_type": "linear", "factor": 2.0, "rope_theta": 1e4}},
    ),
    "llama yarn": (
        LlamaConfig,
        "LlamaForCausalLM",
        {"rope_parameters": {**YARN, "beta_fast": 16.0, "attention_factor": 1.5, "truncate": False}},
    ),
    "llama several ends": (LlamaConfig, "LlamaForCausalLM", {"eos_token_id": [5, 7], "bos_token_id": 3}),
    "mistral": (MistralConfig, "MistralForCausalLM", {}),
    "mistral without window": (MistralConfig, "MistralForCausalLM", {"sliding_window": None, "head_dim": 32}),
    "qwen2": (Qwen2Config, "Qwen2ForCausalLM", {}),
    "qwen2 window": (
        Qwen2Config,
        "Qwen2ForCausalLM",
        {"use_sliding_window": True, "sliding_window": 128, "max_window_layers": 3},
    ),
    "qwen3": (Qwen3Config, "Qwen3ForCausalLM", {}),
    "qwen3 yarn, window": (
        Qwen3Config,
        "Qwen3ForCausalLM",
        {"rope_parameters": YARN, "use_sliding_window": True, "sliding_window": 64, "max_window_layers": 5},
    ),
    "gemma3": (Gemma3TextConfig, "Gemma3ForCausalLM", {}),
    "gemma3 nested rope": (
        Gemma3TextConfig,
        "Gemma3ForCausalLM",
        {
            "query_pre_attn_scalar": 168,
            "sliding_window": 512,
            "final_logit_softcapping": 30.0,
            "rope_parameters": {
                "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6},
                "sliding_attention": {"rope_type": "default", "rope_theta": 5e3},
            },
        },
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_reads_what_transformers_means(name: str, tmp_path: Path) -> None:
    kind, architecture, options = CASES[name]
    truth = kind(**{**SIZES, **options}, architectures=[architecture])
    truth.save_pretrained(tmp_path)
    config = read_config(tmp_path)

    assert config.architecture == architecture
    assert config.vocab_size == truth.vocab_size
    assert (config.hidden_size, config.intermediate_size) == (truth.hidden_size, truth.intermediate_size)
    assert (config.num_layers, config.num_heads) == (truth.num_hidden_layers, truth.num_attention_heads)
    assert config.num_kv_heads == truth.num_key_value_heads
    assert config.head_dim == getattr(truth, "head_dim", None) or truth.hidden_size // truth.num_attention_heads
    assert config.max_positions == truth.max_position_embeddings
    assert config.rms_norm_eps == truth.rms_norm_eps
    assert config.tie_embeddings == truth.tie_word_embeddings
    assert config.bos_token_id == truth.bos_token_id
    ends = truth.eos_token_id
    assert config.eos_token_ids == (tuple(ends) if isinstance(ends, list) else () if ends is None else (ends,))
    assert config.output_bias == bool(getattr(truth, "attention_bias", False))
    assert config.qkv_bias == (config.output_bias or architecture == "Qwen2ForCausalLM")
    assert config.mlp_bias == bool(getattr(truth, "mlp_bias", False))
    types = getattr(truth, "layer_types", None)
    window = getattr(truth, "sliding_window", None)
    sliding = [kind == "sliding_attention" for kind in types] if types else [window is not None] * config.num_layers
    assert list(config.sliding_layers or (False,) * config.num_layers) == sliding
    assert config.sliding_window == (window if any(sliding) else None)
    scalar = getattr(truth, "query_pre_attn_scalar", config.head_dim)
    assert config.attention_scale == pytest.approx(scalar**-0.5)
    assert config.logit_softcap == getattr(truth, "final_logit_softcapping", None)
    if architecture == "Gemma3ForCausalLM":
        assert_rope(config.rope, truth.rope_parameters["full_attention"])
        assert config.local_rope is not None
        assert_rope(config.local_rope, truth.rope_parameters["sliding_attention"])
        assert (config.activation, config.embedding_scale) == ("gelu_tanh", pytest.approx(8.0))
    else:
        assert_rope(config.rope, truth.rope_parameters)
        assert (config.local_rope, config.activation, config.embedding_scale) == (None, "silu", 1.0)


def assert_rope(seen: RopeConfig, truth: dict[str, Any]) -> None:
    assert seen.theta == truth["rope_theta"]
    assert seen.variant == truth["rope_type"]
    names = {"factor": "factor", "original_max_positions": "original_max_position_embeddings"}
    names |= {key: key for key in ("low_freq_factor", "high_freq_factor", "beta_fast", "attention_factor", "truncate")}
    for ours, theirs in names.items():
        if theirs in truth:
            assert getattr(seen, ours) == truth[theirs], ours


def write(folder: Path, **keys: Any) -> Path:
    (folder / "config.json").write_text(json.dumps({"architectures": ["LlamaForCausalLM"], **SIZES, **keys}))
    return folder


def test_older_keys_of_rope(tmp_path: Path) -> None:
    old = {"rope_theta": 5e5, "rope_scaling": {"type": "linear", "factor": 4.0}, "torch_dtype": "float16"}
    config = read_config(write(tmp_path, **old))
    assert config.rope == RopeConfig(theta=5e5, variant="linear", factor=4.0)
    assert config.stored_dtype == "float16"


def test_older_keys_of_gemma3(tmp_path: Path) -> None:
    keys = {
        "architectures": ["Gemma3ForCausalLM"],
        "head_dim": 256,
        "rope_theta": 1e6,
        "rope_local_base_freq": 2e4,
        "rope_scaling": {"factor": 8.0, "rope_type": "linear"},
        "sliding_window": 512,
        "sliding_window_pattern": 3,
        "hidden_activation": "gelu_pytorch_tanh",
    }
    config = read_config(write(tmp_path, **keys))
    assert config.rope == RopeConfig(theta=1e6, variant="linear", factor=8.0)
    assert config.local_rope == RopeConfig(theta=2e4)
    assert config.sliding_layers == (True, True, False, True, True, False, True)
    assert config.tie_embeddings


def test_unknown_architecture_lists_the_supported_ones(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError) as caught:
        read_config(write(tmp_path, architectures=["FalconForCausalLM"]))
    assert "FalconForCausalLM" in caught.value.fact
    assert all(name in caught.value.fix for name in BORDERS)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "missing size": ({"hidden_size": None}, "has no hidden_size"),
    "text for a number": ({"num_hidden_layers": "seven"}, "num_hidden_layers is 'seven'"),
    "no layers": ({"num_hidden_layers": 0}, "num_hidden_layers is 0"),
    "absurd layers": ({"num_hidden_layers": 10**12}, "num_hidden_layers"),
    "heads": ({"num_key_value_heads": 3}, "divisor of num_attention_heads"),
    "odd heads": ({"head_dim": 15}, "head_dim is 15"),
    "rope type": ({"rope_parameters": {"rope_type": "longrope"}}, "'longrope' is not supported"),
    "rope factor": ({"rope_scaling": {"type": "linear", "factor": 0}}, "factor is 0"),
    "partly rotated": ({"partial_rotary_factor": 0.5}, "partial_rotary_factor is 0.5"),
    "activation": ({"hidden_act": "relu"}, "hidden_act is 'relu'"),
    "quantised": ({"quantization_config": {"quant_method": "awq"}}, "quantised with 'awq'"),
    "bool": ({"tie_word_embeddings": "yes"}, "tie_word_embeddings is 'yes'"),
    "names": ({"architectures": "LlamaForCausalLM"}, "architectures is"),
    "nan": ({"rms_norm_eps": float("nan")}, "rms_norm_eps is nan"),
    "end ids": ({"eos_token_id": ["</s>"]}, "eos_token_id is"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refuses(name: str, tmp_path: Path) -> None:
    keys, message = REFUSED[name]
    with pytest.raises(CheckpointError, match=r"config\.json") as caught:
        read_config(write(tmp_path, **keys))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "is not JSON"),
        (b"\x80\x81\xff", "is not JSON"),
        (b"[1]", "holds a JSON list"),
        (b"[" * 10**5, "is not JSON"),
    ],
)
def test_gibberish(text: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_bytes(text)
    with pytest.raises(CheckpointError, match=message):
        read_config(tmp_path)
