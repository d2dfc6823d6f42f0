"""Folders of safetensors: shards, dtypes, damage, memory."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from appliance.engine.checkpoint import CheckpointError, read
from appliance.engine.load import load_model

MODEL = "model.safetensors"
INDEX = "model.safetensors.index.json"


@pytest.fixture
def folder(tiny_model: Callable[..., Path], tmp_path: Path) -> Path:
    """A copy to damage: Llama, untied."""
    source = tiny_model("llama", tie_word_embeddings=False)
    for name in ("config.json", MODEL):
        (tmp_path / name).write_bytes((source / name).read_bytes())
    return tmp_path


def split(folder: Path, tensors: dict[str, torch.Tensor], parts: int) -> None:
    (folder / MODEL).unlink()
    names = sorted(tensors)
    weight_map = {}
    for part in range(parts):
        file = f"model-{part + 1:05}-of-{parts:05}.safetensors"
        save_file({name: tensors[name] for name in names[part::parts]}, folder / file)
        weight_map |= dict.fromkeys(names[part::parts], file)
    (folder / INDEX).write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))


def hidden(folder: Path) -> torch.Tensor:
    from dense_context import DenseContext

    model, _ = load_model(read(str(folder)), torch.float32)
    with torch.inference_mode():
        return model.forward(torch.arange(20), torch.arange(20), DenseContext())


def test_shards_give_the_same_model(folder: Path) -> None:
    whole = hidden(folder)
    split(folder, load_file(folder / MODEL), 3)
    assert torch.equal(hidden(folder), whole)


def test_half_precision_weights_widen_exactly(folder: Path) -> None:
    tensors = {name: tensor.bfloat16() for name, tensor in load_file(folder / MODEL).items()}
    save_file(tensors, folder / MODEL)
    model, _ = load_model(read(str(folder)), torch.float32)
    assert torch.equal(model.embedding.weight, tensors["model.embed_tokens.weight"].float())


def test_progress_ends_at_the_whole(folder: Path) -> None:
    seen: list[tuple[int, int]] = []
    checkpoint = read(str(folder))
    load_model(checkpoint, torch.bfloat16, lambda done, total: seen.append((done, total)))
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})
    assert seen[-1] == (checkpoint.weight_bytes, checkpoint.weight_bytes)


def test_inverse_frequencies_of_old_checkpoints_are_passed_over(folder: Path) -> None:
    before = hidden(folder)
    extra = {"model.layers.0.self_attn.rotary_emb.inv_freq": torch.ones(8)}
    save_file(load_file(folder / MODEL) | extra, folder / MODEL)
    assert torch.equal(hidden(folder), before)


def test_a_head_beside_tied_embeddings_is_passed_over(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"tie_word_embeddings": True}))
    model, _ = load_model(read(str(folder)), torch.float32)
    states = torch.randn(3, 64)
    torch.testing.assert_close(model.logits(states), states @ model.embedding.weight.T)


def test_missing_unknown_and_misshapen_tensors_are_named_and_counted(folder: Path) -> None:
    tensors = {name: t for name, t in load_file(folder / MODEL).items() if ".mlp." not in name}
    tensors["model.norm.weight"] = torch.ones(63)
    tensors["model.extra"] = torch.ones(1)
    save_file(tensors, folder / MODEL)
    with pytest.raises(CheckpointError) as caught:
        load_model(read(str(folder)), torch.float32)
    text = str(caught.value)
    assert text.startswith(f"{folder}: ")
    assert "model.norm.weight is [63], the configuration says [64]" in text
    assert "unknown tensors: model.extra" in text
    assert "missing tensors: model.layers.0.mlp.gate_proj.weight, " in text and "and 5 more" in text
    assert len(text) < 700


@pytest.mark.parametrize("part", [0.001, 0.5, 0.9999])
def test_a_truncated_file_is_refused(part: float, folder: Path) -> None:
    content = (folder / MODEL).read_bytes()
    (folder / MODEL).write_bytes(content[: int(len(content) * part)])
    with pytest.raises(CheckpointError, match=r"model\.safetensors"):
        load_model(read(str(folder)), torch.float32)


def test_a_file_that_shrinks_after_its_header_was_read(folder: Path) -> None:
    checkpoint = read(str(folder))
    os.truncate(folder / MODEL, (folder / MODEL).stat().st_size // 2)
    with pytest.raises(CheckpointError, match=r"model\.safetensors: cannot be read"):
        load_model(checkpoint, torch.float32)


def test_fingerprint_follows_the_weights_not_the_place(folder: Path, tiny_model: Callable[..., Path]) -> None:
    def fingerprint(place: Path) -> str:
        return load_model(read(str(place)), torch.float32)[1]

    first = fingerprint(folder)
    assert first == fingerprint(tiny_model("llama", tie_word_embeddings=False))
    tensors = load_file(folder / MODEL)
    tensors["model.layers.2.mlp.up_proj.weight"] += 0.01
    save_file(tensors, folder / MODEL)
    assert fingerprint(folder) != first


PEAK = """
import resource, sys, torch
from appliance.engine.checkpoint import read
from appliance.engine.load import load_model
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
def anonymous():
    lines = open("/proc/self/smaps_rollup").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Anonymous:")) * 1024
checkpoint = read(sys.argv[1])
before, most = anonymous(), 0
def seen(done, total):
    global most
    most = max(most, anonymous() - before)
load_model(checkpoint, torch.bfloat16, seen)
print(most)
"""


def test_memory_holds_the_weights_once(tiny_model: Callable[..., Path]) -> None:
    """Private memory while loading stays near the size of the packed weights: mapped pages of the file are not ours."""
    sizes = {"hidden_size": 512, "intermediate_size": 2048, "num_hidden_layers": 6}
    folder = tiny_model("llama", dtype="bfloat16", **sizes)
    weights = read(str(folder)).weight_bytes
    output = subprocess.run(
        [sys.executable, "-c", PEAK, str(folder)], capture_output=True, text=True, check=True, cwd=Path.cwd()
    )
    assert weights > 30e6
    assert 0.9 * weights < int(output.stdout) < 1.35 * weights
