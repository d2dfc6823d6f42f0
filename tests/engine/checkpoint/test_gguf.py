"""GGUF headers: the library's own files read back, architectures mapped, damaged files refused."""

import math
import os
import struct
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
from gguf_files import write_gguf

from appliance.engine.checkpoint import CheckpointError, RopeConfig, architecture, read, read_gguf
from appliance.engine.checkpoint.dtypes import STORAGE_TYPES
from appliance.engine.checkpoint.gguf_config import ARCHITECTURES
from appliance.engine.checkpoint.gguf_header import REFUSED_TYPES, TENSOR_TYPES


def test_types_are_those_of_the_format() -> None:
    for number, name in TENSOR_TYPES.items():
        kind = gguf.GGMLQuantizationType[name]
        assert kind.value == number
        assert gguf.GGML_QUANT_SIZES[kind] == STORAGE_TYPES[name][:2]
    for number, name in REFUSED_TYPES.items():
        assert gguf.GGMLQuantizationType[name].value == number


def test_the_real_model(smollm2: Path) -> None:
    checkpoint = read(str(smollm2))
    config = checkpoint.config
    assert (config.architecture, config.num_layers, config.hidden_size) == ("LlamaForCausalLM", 30, 576)
    assert (config.num_heads, config.num_kv_heads, config.head_dim) == (9, 3, 64)
    assert (config.vocab_size, config.max_positions, config.rope) == (49152, 8192, RopeConfig(theta=100000.0))
    assert (config.tie_embeddings, config.stored_dtype, config.eos_token_ids) == (True, "Q4_1", (2,))
    assert (checkpoint.parameters, checkpoint.format, checkpoint.task) == (134_515_008, "gguf", "generate")
    last = max(checkpoint.tensors, key=lambda tensor: tensor.offset)
    assert last.offset + last.nbytes <= smollm2.stat().st_size < last.offset + last.nbytes + 32


def test_equals_the_librarys_reader(smollm2: Path) -> None:
    truth = gguf.GGUFReader(str(smollm2))
    header = read_gguf(smollm2, arrays=True)
    assert set(header.metadata) == {key for key in truth.fields if not key.startswith("GGUF.")}
    for key in ("tokenizer.ggml.merges", "tokenizer.chat_template", "llama.rope.freq_base", "general.languages"):
        assert header.metadata[key] == truth.fields[key].contents()
    assert len(header.metadata["tokenizer.ggml.tokens"]) == 49152
    assert read_gguf(smollm2).skipped["tokenizer.ggml.tokens"] == 49152
    seen = {t.name: (t.dtype, t.shape, t.offset, t.nbytes) for t in header.tensors}
    wanted = {
        t.name: (t.tensor_type.name, tuple(int(n) for n in t.shape)[::-1], int(t.data_offset), int(t.n_bytes))
        for t in truth.tensors
    }
    assert seen == wanted


def test_output_and_biases_are_found_by_their_tensors(tmp_path: Path) -> None:
    plain = read(str(write_gguf(tmp_path / "a.gguf", "qwen2"))).config
    assert (plain.tie_embeddings, plain.qkv_bias, plain.qk_norm) == (True, False, False)
    names = ("output.weight", "blk.0.attn_q.bias", "blk.0.attn_output.bias", "blk.0.ffn_gate.bias")
    extra = {name: np.ones((32, 64), np.float32) for name in (*names, "blk.0.attn_q_norm.weight")}
    full = read(str(write_gguf(tmp_path / "b.gguf", "qwen3", tensors=extra))).config
    assert not full.tie_embeddings
    assert full.qkv_bias and full.output_bias and full.mlp_bias and full.qk_norm


def test_end_ids_and_sampling(tmp_path: Path) -> None:
    plain = {"tokenizer.ggml.eot_token_id": 1, "general.sampling.temp": 0.5, "general.sampling.top_k": 40}
    checkpoint = read(str(write_gguf(tmp_path / "a.gguf", plain=plain)))
    assert checkpoint.config.eos_token_ids == (2, 1)
    assert checkpoint.sampling_defaults == {"temperature": 0.5, "top_k": 40.0}


ROPES: dict[str, tuple[dict[str, Any], RopeConfig]] = {
    "default": ({"rope.freq_base": 5e5}, RopeConfig(theta=5e5)),
    "linear": ({"rope.scaling.type": "linear", "rope.scaling.factor": 4.0}, RopeConfig(variant="linear", factor=4.0)),
    "old linear": ({"rope.scale_linear": 2.0}, RopeConfig(variant="linear", factor=2.0)),
    "yarn": (
        {"rope.scaling.type": "yarn", "rope.scaling.factor": 4.0, "rope.scaling.original_context_length": 512},
        RopeConfig(variant="yarn", factor=4.0, original_max_positions=512),
    ),
}


@pytest.mark.parametrize("name", ROPES)
def test_rope(name: str, tmp_path: Path) -> None:
    keys, wanted = ROPES[name]
    assert read(str(write_gguf(tmp_path / "a.gguf", keys=keys))).config.rope == wanted


def test_yarn_attention_factor_multiplies_the_usual_one(tmp_path: Path) -> None:
    keys = {"rope.scaling.type": "yarn", "rope.scaling.factor": 4.0, "rope.scaling.attn_factor": 0.5}
    rope = read(str(write_gguf(tmp_path / "a.gguf", keys=keys))).config.rope
    assert rope.attention_factor == pytest.approx(0.5 * (0.1 * math.log(4) + 1))


def llama3_divisors(theta: float, head_dim: int, factor: float) -> np.ndarray:
    """By the published formula, in numpy: frequency without scaling over frequency with it."""
    frequency = 1.0 / theta ** (np.arange(0, head_dim, 2) / head_dim)
    wavelength = 2 * np.pi / frequency
    smooth = (8192 / wavelength - 1.0) / 3.0
    between = (1 - smooth) * frequency / factor + smooth * frequency
    scaled = np.where(wavelength < 8192 / 4.0, frequency, np.where(wavelength > 8192, frequency / factor, between))
    return (frequency / scaled).astype(np.float32)


def test_llama3_scaling_is_recovered_from_its_divisors(tmp_path: Path) -> None:
    keys = {"rope.freq_base": 5e5, "embedding_length": 64, "attention.key_length": 128, "attention.value_length": 128}
    tensors = {"rope_freqs.weight": llama3_divisors(5e5, 128, 32.0)}
    rope = read(str(write_gguf(tmp_path / "a.gguf", keys=keys, tensors=tensors))).config.rope
    assert (rope.variant, rope.factor, rope.theta) == ("llama3", 32.0, 5e5)
    assert (rope.low_freq_factor, rope.high_freq_factor, rope.original_max_positions) == (1.0, 4.0, 8192)


def test_other_frequency_divisors_are_refused(tmp_path: Path) -> None:
    tensors = {"rope_freqs.weight": np.linspace(1, 3, 8, dtype=np.float32)}
    with pytest.raises(CheckpointError, match="does not hold a llama3 scaling"):
        read(str(write_gguf(tmp_path / "a.gguf", tensors=tensors)))


def test_gemma3(tmp_path: Path) -> None:
    keys = {
        "attention.sliding_window": 512,
        "attention.key_length": 32,
        "attention.value_length": 32,
        "rope.freq_base": 1e6,
        "rope.scaling.type": "linear",
        "rope.scaling.factor": 8.0,
    }
    config = read(str(write_gguf(tmp_path / "a.gguf", "gemma3", keys))).config
    assert config.architecture == "Gemma3ForCausalLM"
    assert config.sliding_layers == (True, True, True, True, True, False, True)
    assert (config.sliding_window, config.activation, config.embedding_scale) == (512, "gelu_tanh", 8.0)
    assert config.rope == RopeConfig(theta=1e6, variant="linear", factor=8.0)
    assert config.local_rope == RopeConfig(theta=1e4)
    assert config.attention_scale == pytest.approx(32**-0.5)
    pattern = [True, False, True, False, True, False, True]
    config = read(
        str(write_gguf(tmp_path / "b.gguf", "gemma3", {**keys, "attention.sliding_window_pattern": pattern}))
    ).config
    assert list(config.sliding_layers) == pattern


def test_mistral_as_llama(tmp_path: Path) -> None:
    config = read(str(write_gguf(tmp_path / "a.gguf", keys={"attention.sliding_window": 256}))).config
    assert (config.architecture, config.sliding_window) == ("MistralForCausalLM", 256)
    assert config.sliding_layers == (True,) * 7


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "architecture": ({"arch": "rwkv7"}, "architecture 'rwkv7' is not one"),
    "encoder": ({"arch": "bert"}, "is an embedding model"),
    "missing": ({"keys": {"block_count": None}}, "has no block_count"),
    "experts": ({"keys": {"expert_count": 8}}, "expert_count is 8"),
    "longrope": ({"keys": {"rope.scaling.type": "longrope"}}, "rope.scaling.type is 'longrope'"),
    "partly rotated": ({"keys": {"rope.dimension_count": 8}}, "partly rotated"),
    "heads": ({"keys": {"attention.head_count_kv": 3}}, "attention.head_count_kv is 3"),
    "split": ({"plain": {"split.count": 2}}, "one part of a split"),
    "text": ({"keys": {"embedding_length": "wide"}}, "embedding_length is 'wide'"),
    "tensor type": ({"tensors": {"x": np.ones((2, 2), np.float64)}}, "tensor 'x' has type F64"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refuses(name: str, tmp_path: Path) -> None:
    options, message = REFUSED[name]
    with pytest.raises(CheckpointError) as caught:
        read(str(write_gguf(tmp_path / "a.gguf", **options)))
    assert message in str(caught.value)
    if name == "architecture":
        assert all(arch in caught.value.fix for arch in ARCHITECTURES)


@pytest.mark.parametrize("keep", [0, 3, 4, 11, 23, 24, 60, 200, 400, -1])
def test_truncated(keep: int, tmp_path: Path) -> None:
    whole = write_gguf(tmp_path / "a.gguf")
    header = read_gguf(whole)
    end = max(tensor.offset + tensor.nbytes for tensor in header.tensors)
    path = tmp_path / "b.gguf"
    path.write_bytes(whole.read_bytes()[: keep if keep >= 0 else end - 1])
    with pytest.raises(CheckpointError, match=r"b\.gguf"):
        read(str(path))


def test_truncated_real_model(smollm2: Path, tmp_path: Path) -> None:
    path = tmp_path / "half.gguf"
    with smollm2.open("rb") as file:
        path.write_bytes(file.read(5_000_000))
    with pytest.raises(CheckpointError, match="of a file with 5,000,000") as caught:
        read(str(path))
    assert "incomplete" in caught.value.fix


HEADERS = {
    "magic": (b"GGML" + bytes(64), "is not a GGUF file"),
    "version": (b"GGUF" + struct.pack("<IQQ", 9, 0, 0), "is version 9"),
    "big endian": (b"GGUF" + struct.pack(">IQQ", 3, 0, 0), "is a big-endian file"),
    "tensor count": (b"GGUF" + struct.pack("<IQQ", 3, 2**60, 0), "tensors"),
    "key count": (b"GGUF" + struct.pack("<IQQ", 3, 0, 2**60), "metadata keys"),
    "long text": (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 2**62) + b"ab", "passes the file's end"),
    "unknown kind": (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 1) + b"k" + struct.pack("<I", 77), "unknown type 77"),
    "no architecture": (b"GGUF" + struct.pack("<IQQ", 3, 0, 0), "holds no tensors"),
}


@pytest.mark.parametrize("name", HEADERS)
def test_wrong_headers(name: str, tmp_path: Path) -> None:
    data, message = HEADERS[name]
    path = tmp_path / "a.gguf"
    path.write_bytes(data)
    with pytest.raises(CheckpointError) as caught:
        read(str(path))
    assert message in str(caught.value)


def test_task_of_gguf_files(tmp_path: Path) -> None:
    assert architecture(str(write_gguf(tmp_path / "a.gguf"))).task == "generate"
    assert architecture(str(write_gguf(tmp_path / "b.gguf", "qwen3", {"pooling_type": 3}))).task == "embed"
    bert = architecture(str(write_gguf(tmp_path / "c.gguf", "bert")))
    assert (bert.name, bert.task, bert.supported) == ("bert", "embed", False)


def test_a_tensor_inside_another_is_refused(tmp_path: Path) -> None:
    """One flipped bit of an offset; otherwise the weights of one layer would quietly serve another."""
    path = write_gguf(tmp_path / "a.gguf")
    header = read_gguf(path)
    moved = header.tensors[1]
    start = header.tensors[0].offset
    data = path.read_bytes()
    described = data.index(moved.name.encode()) + len(moved.name)
    place = data.index(struct.pack("<Q", moved.offset - start), described)
    path.write_bytes(data[:place] + bytes(8) + data[place + 8 :])
    with pytest.raises(CheckpointError, match=f"'{moved.name}' starts at byte {start:,}, expected {moved.offset:,}"):
        read_gguf(path)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.gguf")
    with pytest.raises(CheckpointError, match="is not a regular file"):
        read_gguf(tmp_path / "a.gguf")
