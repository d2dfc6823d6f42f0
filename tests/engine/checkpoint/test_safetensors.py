"""Folders with safetensors: real ones read, damaged ones refused with the file and the way out."""

import json
import os
import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from appliance.engine.checkpoint import CheckpointError, read
from appliance.engine.checkpoint.safetensors_header import read_file, read_folder

TENSORS = {
    "a": torch.arange(12, dtype=torch.float32).reshape(3, 4),
    "b": torch.ones(5, dtype=torch.bfloat16),
    "c": torch.full((2, 2), 3.0, dtype=torch.float16),
}


def test_single_file(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    save_file(TENSORS, path, metadata={"format": "pt"})
    data = path.read_bytes()
    found = {tensor.name: tensor for tensor in read_folder(tmp_path)}
    assert {name: (t.dtype, t.shape, t.nbytes) for name, t in found.items()} == {
        "a": ("F32", (3, 4), 48),
        "b": ("BF16", (5,), 10),
        "c": ("F16", (2, 2), 8),
    }
    a = found["a"]
    assert struct.unpack("<12f", data[a.offset : a.offset + a.nbytes]) == tuple(range(12))


def shard(folder: Path, weight_map: dict[str, str]) -> None:
    for name in set(weight_map.values()):
        save_file({key: TENSORS[key] for key, where in weight_map.items() if where == name}, folder / name)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))


def test_sharded(tmp_path: Path) -> None:
    shard(tmp_path, {"a": "m-1.safetensors", "b": "m-2.safetensors", "c": "m-1.safetensors"})
    save_file({"z": torch.ones(1)}, tmp_path / "consolidated.safetensors")
    found = {tensor.name: Path(tensor.file).name for tensor in read_folder(tmp_path)}
    assert found == {"a": "m-1.safetensors", "b": "m-2.safetensors", "c": "m-1.safetensors"}


def test_missing_shard(tmp_path: Path) -> None:
    shard(tmp_path, {"a": "m-1.safetensors", "b": "m-2.safetensors"})
    (tmp_path / "m-2.safetensors").unlink()
    with pytest.raises(CheckpointError, match=r"shard m-2\.safetensors is missing"):
        read_folder(tmp_path)


def test_index_names_a_tensor_that_no_shard_has(tmp_path: Path) -> None:
    shard(tmp_path, {"a": "m-1.safetensors"})
    (tmp_path / "model.safetensors.index.json").write_text(
        json.dumps({"weight_map": {"a": "m-1.safetensors", "ghost": "m-1.safetensors"}})
    )
    with pytest.raises(CheckpointError, match="'ghost' is not in"):
        read_folder(tmp_path)


def test_index_does_not_leave_the_folder(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": "../x.safetensors"}}))
    with pytest.raises(CheckpointError, match="expected a plain file name"):
        read_folder(tmp_path)


def test_pickled_weights_are_not_loaded(tmp_path: Path) -> None:
    (tmp_path / "pytorch_model.bin").write_bytes(b"x")
    with pytest.raises(CheckpointError, match="would run code"):
        read_folder(tmp_path)


def header(entries: object, data: bytes = b"", length: int | None = None) -> bytes:
    text = json.dumps(entries).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def entry(start: int, end: int, dtype: str = "F32", shape: object = None) -> dict[str, object]:
    return {"dtype": dtype, "shape": [(end - start) // 4] if shape is None else shape, "data_offsets": [start, end]}


DAMAGED = {
    "empty": (b"", "header length 0"),
    "seven bytes": (b"1234567", "header length"),
    "long header": (header({"a": entry(0, 4)}, b"1234", length=10**9), "header length 1,000,000,000"),
    "not json": (struct.pack("<Q", 4) + b"{{{{", "is not JSON"),
    "list": (header([1, 2]), "holds a JSON list"),
    "truncated data": (header({"a": entry(0, 40)}, b"12345678"), "its header describes"),
    "too much data": (header({"a": entry(0, 4)}, b"12345678"), "its header describes"),
    "overlap": (header({"a": entry(0, 8), "b": entry(4, 12)}, bytes(12)), "expected"),
    "gap": (header({"a": entry(0, 4), "b": entry(8, 12)}, bytes(12)), "expected"),
    "wrong bytes": (header({"a": entry(0, 8, shape=[3])}, bytes(8)), "does not take 8 bytes"),
    "backwards": (header({"a": entry(8, 0, shape=[])}, b""), "does not take -8 bytes"),
    "negative": (header({"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}}, bytes(4)), "has shape"),
    "dtype": (
        header({"a": entry(0, 4, dtype="F8_E4M3")}, bytes(4)),
        "dtype 'F8_E4M3', supported are F32, F16 and BF16",
    ),
    "quantised name": (header({"a": entry(0, 4, dtype="Q4_0")}, bytes(4)), "dtype 'Q4_0'"),
    "no dtype": (header({"a": {}}, b""), "dtype None"),
    "not described": (header({"a": 3}, b""), "is described by 3"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged(name: str, tmp_path: Path) -> None:
    data, message = DAMAGED[name]
    path = tmp_path / "model.safetensors"
    path.write_bytes(data)
    with pytest.raises(CheckpointError) as caught:
        read_file(path)
    assert message in caught.value.fact
    assert caught.value.path == str(path)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "model.safetensors.index.json"])
def test_a_pipe_is_not_waited_for(name: str, tiny_model: Callable[..., Path], tmp_path: Path) -> None:
    shutil.copytree(tiny_model("llama"), tmp_path, dirs_exist_ok=True)
    (tmp_path / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / name)
    with pytest.raises(CheckpointError, match=f"{name}: is not a regular file"):
        read(str(tmp_path))


def test_truncated_checkpoint(tiny_model: Callable[..., Path], tmp_path: Path) -> None:
    source = tiny_model("llama")
    (tmp_path / "config.json").write_bytes((source / "config.json").read_bytes())
    data = (source / "model.safetensors").read_bytes()
    for length in (0, 5, 100, len(data) // 2, len(data) - 1):
        (tmp_path / "model.safetensors").write_bytes(data[:length])
        with pytest.raises(CheckpointError, match=r"model\.safetensors"):
            read(str(tmp_path))


@pytest.mark.parametrize("architecture", ["llama", "qwen2", "qwen3", "mistral", "gemma3"])
def test_whole_checkpoint(architecture: str, tiny_model: Callable[..., Path]) -> None:
    from transformers import AutoModelForCausalLM

    folder = tiny_model(architecture)
    checkpoint = read(str(folder))
    model = AutoModelForCausalLM.from_pretrained(folder)
    assert (checkpoint.format, checkpoint.task) == ("safetensors", "generate")
    assert checkpoint.parameters == sum(parameter.numel() for parameter in model.parameters())
    assert checkpoint.config.architecture == type(model).__name__
    assert checkpoint.weight_bytes == sum(tensor.nbytes for tensor in checkpoint.tensors)
    names = {tensor.name for tensor in checkpoint.tensors}
    assert names == set(model.state_dict()) - ({"lm_head.weight"} if checkpoint.config.tie_embeddings else set())


def test_generation_config_gives_ends_and_sampling(tiny_model: Callable[..., Path], tmp_path: Path) -> None:
    for path in tiny_model("qwen3").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    wanted = {"eos_token_id": [4, 9], "temperature": 0.6, "top_k": 20, "do_sample": True, "top_p": None}
    (tmp_path / "generation_config.json").write_text(json.dumps(wanted))
    checkpoint = read(str(tmp_path))
    assert checkpoint.config.eos_token_ids == (4, 9)
    assert checkpoint.sampling_defaults == {"temperature": 0.6, "top_k": 20.0}


def test_sampling_that_no_request_may_have_is_refused(tiny_model: Callable[..., Path], tmp_path: Path) -> None:
    for path in tiny_model("qwen3").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "generation_config.json").write_text('{"top_p": 1.5}')
    with pytest.raises(CheckpointError, match=r"generation_config\.json: top_p is 1\.5, expected a number from"):
        read(str(tmp_path))


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="does not exist"):
        read(str(tmp_path / "nothing"))
    with pytest.raises(CheckpointError, match=r"has no config\.json"):
        read(str(tmp_path))
