"""Every architecture with random weights gives the logits of Transformers in float32, at once and token by token."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from dense_context import DenseContext

from appliance.engine.checkpoint import read
from appliance.engine.load import load_model

YARN = {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 32}
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("llama", {}),
    "llama, three queries a key, untied": (
        "llama",
        {"hidden_size": 72, "num_attention_heads": 9, "num_key_value_heads": 3, "tie_word_embeddings": False},
    ),
    "llama, heads wider than hidden": ("llama", {"head_dim": 32}),
    "llama, biases": ("llama", {"attention_bias": True, "mlp_bias": True}),
    "llama, linear rope": (
        "llama",
        {"rope_parameters": {"rope_type": "linear", "factor": 4.0, "rope_theta": 10000.0}},
    ),
    "llama, llama3 rope": (
        "llama",
        {
            "head_dim": 64,
            "rope_parameters": {
                "rope_type": "llama3",
                "rope_theta": 500.0,
                "factor": 8.0,
                "low_freq_factor": 1.0,
                "high_freq_factor": 4.0,
                "original_max_position_embeddings": 64,
            },
        },
    ),
    "llama, yarn rope": ("llama", {"head_dim": 64, "rope_parameters": YARN}),
    "llama, yarn rope with scales": (
        "llama",
        {"rope_parameters": YARN | {"mscale": 1.0, "mscale_all_dim": 0.7, "beta_fast": 16.0, "truncate": False}},
    ),
    "llama, yarn rope with a given factor": ("llama", {"rope_parameters": YARN | {"attention_factor": 1.3}}),
    "mistral": ("mistral", {}),
    "mistral, window": ("mistral", {"sliding_window": 12}),
    "mistral, tied": ("mistral", {"tie_word_embeddings": True}),
    "qwen2": ("qwen2", {}),
    "qwen2, untied, one key head": ("qwen2", {"tie_word_embeddings": False, "num_key_value_heads": 1}),
    "qwen2, window in the upper layers": (
        "qwen2",
        {"use_sliding_window": True, "sliding_window": 9, "max_window_layers": 1},
    ),
    "qwen3": ("qwen3", {}),
    "qwen3, wide heads, biases": ("qwen3", {"head_dim": 48, "attention_bias": True, "tie_word_embeddings": False}),
    "gemma3": ("gemma3", {"sliding_window": 10}),
    "gemma3, soft caps": (
        "gemma3",
        {
            "attn_logit_softcapping": 3.0,
            "final_logit_softcapping": 2.0,
            "tie_word_embeddings": False,
            "num_key_value_heads": 1,
        },
    ),
    "gemma3, stretched full layers": (
        "gemma3",
        {
            "rope_parameters": {
                "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6},
                "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
            },
            "attention_bias": True,
        },
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_logits_equal_transformers(case: str, tiny_model: Callable[..., Path]) -> None:
    architecture, options = CASES[case]
    folder = tiny_model(architecture, **options)
    ids = torch.randint(512, (60,), generator=torch.Generator().manual_seed(1))
    expected = transformers_logits(folder, ids)
    model, _ = load_model(read(str(folder)), torch.float32)
    positions = torch.arange(60)
    with torch.inference_mode():
        at_once = model.logits(model.forward(ids, positions, DenseContext()))
        context = DenseContext()
        hidden = [model.forward(ids[:41], positions[:41], context)]
        hidden += [model.forward(ids[i : i + 1], positions[i : i + 1], context) for i in range(41, 60)]
        stepwise = model.logits(torch.cat(hidden))
    assert at_once.dtype == torch.float32
    for logits in (at_once, stepwise):
        torch.testing.assert_close(logits, expected, rtol=1e-4, atol=2e-5 * expected.abs().max().item())
        assert torch.equal(logits.argmax(-1), expected.argmax(-1))


@pytest.mark.parametrize("architecture", ["llama", "mistral", "qwen2", "qwen3", "gemma3"])
def test_bfloat16_is_near_float32(architecture: str, tiny_model: Callable[..., Path]) -> None:
    folder = tiny_model(architecture)
    ids = torch.arange(5, 45)
    outcomes = []
    for dtype in (torch.float32, torch.bfloat16):
        model, _ = load_model(read(str(folder)), dtype)
        with torch.inference_mode():
            hidden = model.forward(ids, torch.arange(40), DenseContext())
            assert hidden.dtype == dtype
            outcomes.append(model.logits(hidden))
    assert outcomes[1].dtype == torch.float32
    similarity = torch.cosine_similarity(*outcomes, dim=-1)
    assert similarity.min() > 0.99


def test_positions_beyond_the_first_table(tiny_model: Callable[..., Path]) -> None:
    """A later token far out is rotated as if the table had been that long from the start."""
    model, _ = load_model(read(str(tiny_model("llama"))), torch.float32)
    fresh, _ = load_model(read(str(tiny_model("llama"))), torch.float32)
    ids, near, far = torch.arange(8), torch.arange(8), torch.arange(9000, 9008)
    with torch.inference_mode():
        model.forward(ids, near, DenseContext())
        grown = model.forward(ids, far, DenseContext())
        assert torch.equal(grown, fresh.forward(ids, far, DenseContext()))
        shifted = model.forward(ids, near, DenseContext())
    torch.testing.assert_close(grown, shifted, rtol=1e-2, atol=1e-2)


def transformers_logits(folder: Path, ids: torch.Tensor) -> torch.Tensor:
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager")
    # Transformers reads Gemma 3's soft cap of attention scores but passes it on only when told to.
    softcap = getattr(model.config, "attn_logit_softcapping", None)
    with torch.inference_mode():
        logits: torch.Tensor = model(ids[None], **({"softcap": softcap} if softcap else {})).logits[0]
    return logits
