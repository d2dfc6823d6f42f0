"""A GGUF gives the same model as the safetensors folder it was made from."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gguf
import gguf_twin
import numpy as np
import pytest
import torch
from dense_context import DenseContext
from safetensors.torch import load_file, save_file

from appliance.engine.checkpoint import CheckpointError, read
from appliance.engine.load import load_model

SIZES: dict[str, Any] = {
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "max_position_embeddings": 256,
    "rms_norm_eps": 1e-5,
}
OWN: dict[str, dict[str, Any]] = {
    "llama": {"tie_word_embeddings": False, "attention_bias": True},
    "qwen2": {},
    "qwen3": {},
    "gemma3": {"sliding_window": 8, "query_pre_attn_scalar": 32},
}
IDS = torch.arange(3, 27)


@pytest.mark.parametrize("arch", OWN)
def test_whole_model_equals_its_folder(arch: str, tiny_model: Callable[..., Path], tmp_path: Path) -> None:
    folder = tiny_model(arch, **SIZES | OWN[arch])
    path = gguf_twin.write_twin(folder, tmp_path / "twin.gguf", arch, sizes())
    expected, seen = logits(folder), logits(path)
    torch.testing.assert_close(seen, expected, rtol=1e-4, atol=1e-4)
    assert torch.equal(seen.argmax(-1), expected.argmax(-1))


@pytest.mark.parametrize("kind", ["F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1"])
def test_stored_types(kind: str, tiny_model: Callable[..., Path], tmp_path: Path) -> None:
    """Each type equals a folder that holds what the gguf library makes of the same blocks."""
    folder = tiny_model("llama", **SIZES | OWN["llama"])
    path = gguf_twin.write_twin(folder, tmp_path / "twin.gguf", "llama", sizes(), kind)
    quantisation = gguf.GGMLQuantizationType[kind]
    tensors = load_file(folder / "model.safetensors")
    for name, tensor in tensors.items():
        if tensor.dim() == 2:
            content = gguf.quants.quantize(tensor.numpy(), quantisation)
            tensors[name] = torch.from_numpy(gguf.quants.dequantize(content, quantisation))
    (tmp_path / "config.json").write_bytes((folder / "config.json").read_bytes())
    save_file(tensors, tmp_path / "model.safetensors")
    torch.testing.assert_close(logits(path), logits(tmp_path), rtol=1e-4, atol=1e-4)


def test_llama3_divisors_are_not_a_weight(tiny_model: Callable[..., Path], tmp_path: Path) -> None:
    rope = {
        "rope_type": "llama3",
        "rope_theta": 10000.0,
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
    }
    folder = tiny_model("llama", **SIZES | OWN["llama"] | {"rope_parameters": rope})
    turns = 8192 / (2 * np.pi) * 10000.0 ** (-np.arange(0, 32, 2) / 32)
    smooth = np.clip((turns - 1) / 3, 0, 1)
    divisors = (1 / ((1 - smooth) / 8 + smooth)).astype(np.float32)
    extra = {"rope_freqs.weight": divisors}
    path = gguf_twin.write_twin(folder, tmp_path / "twin.gguf", "llama", sizes(), extra=extra)
    torch.testing.assert_close(logits(path), logits(folder), rtol=1e-4, atol=1e-4)


def test_a_tensor_of_another_architecture_is_refused(tiny_model: Callable[..., Path], tmp_path: Path) -> None:
    folder = tiny_model("llama", **SIZES | OWN["llama"])
    extra = {"blk.0.ssm_conv1d.weight": np.zeros((4, 4), np.float32)}
    path = gguf_twin.write_twin(folder, tmp_path / "twin.gguf", "llama", sizes(), extra=extra)
    with pytest.raises(CheckpointError, match=r"twin\.gguf: unknown tensors: blk\.0\.ssm_conv1d\.weight"):
        load_model(read(str(path)), torch.float32)


@pytest.mark.parametrize("part", [0.3, 0.999])
def test_a_truncated_file_is_refused(part: float, tiny_model: Callable[..., Path], tmp_path: Path) -> None:
    folder = tiny_model("llama", **SIZES | OWN["llama"])
    path = gguf_twin.write_twin(folder, tmp_path / "twin.gguf", "llama", sizes())
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * part)])
    with pytest.raises(CheckpointError, match=r"twin\.gguf"):
        load_model(read(str(path)), torch.float32)


def test_the_real_model_equals_transformers(smollm2: Path) -> None:
    from transformers import AutoModelForCausalLM

    other = AutoModelForCausalLM.from_pretrained(smollm2.parent, gguf_file=smollm2.name, dtype=torch.float32)
    ids = torch.randint(49152, (24,), generator=torch.Generator().manual_seed(3))
    with torch.inference_mode():
        expected = other(ids[None]).logits[0]
    del other
    seen = logits(smollm2, ids)
    assert torch.equal(seen.argmax(-1), expected.argmax(-1))
    torch.testing.assert_close(seen, expected, rtol=1e-4, atol=2e-4)


def sizes() -> dict[str, Any]:
    return SIZES | {"rope_theta": 10000.0, "sliding_window": 8, "sliding_pattern": [True, False, True]}


def logits(path: Path, ids: torch.Tensor = IDS) -> torch.Tensor:
    model, _ = load_model(read(str(path)), torch.float32)
    with torch.inference_mode():
        return model.logits(model.forward(ids, torch.arange(len(ids)), DenseContext()))
