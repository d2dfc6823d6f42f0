"""Whatever a header says, reading it ends in a Checkpoint or a CheckpointError."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from gguf_files import write_gguf
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.torch import save

from appliance.engine.checkpoint import Checkpoint, CheckpointError, architecture, read

CONFIG: dict[str, Any] = {
    "architectures": ["Gemma3ForCausalLM"],
    "vocab_size": 8,
    "hidden_size": 16,
    "intermediate_size": 8,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 8,
    "max_position_embeddings": 64,
    "sliding_window": 8,
    "layer_types": ["sliding_attention", "full_attention"],
    "rope_parameters": {"full_attention": {"rope_type": "yarn", "factor": 2.0}, "sliding_attention": None},
    "eos_token_id": [1, 2],
    "query_pre_attn_scalar": 8,
    "rms_norm_eps": 1e-6,
}
WEIGHTS = save({"model.embed_tokens.weight": torch.ones(8, 16), "model.norm.weight": torch.ones(16)})
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4) | st.sampled_from(list(CONFIG)), inner)
    ),
    max_leaves=6,
)
LENIENT = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def attempt(path: Path) -> None:
    for reader in (read, architecture):
        try:
            found = reader(str(path))
        except CheckpointError as error:
            assert "\n" not in str(error)
        else:
            assert not isinstance(found, Checkpoint) or found.parameters > 0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    (tmp_path / "model.safetensors").write_bytes(WEIGHTS)
    assert read(str(tmp_path)).config.sliding_layers == (True, False)
    return tmp_path


@LENIENT
@given(
    changes=st.dictionaries(
        st.sampled_from([*CONFIG, "head_dim", "attention_bias", "quantization_config"]), JSON, max_size=3
    )
)
def test_config_values(folder: Path, changes: dict[str, Any]) -> None:
    (folder / "config.json").write_text(json.dumps({**CONFIG, **changes}))
    attempt(folder)


@LENIENT
@given(data=st.data())
def test_safetensors_bytes(folder: Path, data: st.DataObject) -> None:
    changed = bytearray(WEIGHTS)
    for _ in range(data.draw(st.integers(1, 4))):
        changed[data.draw(st.integers(0, 200))] = data.draw(st.integers(0, 255))
    (folder / "model.safetensors").write_bytes(bytes(changed[: data.draw(st.integers(0, len(changed)))]))
    attempt(folder)


@LENIENT
@given(tree=JSON)
def test_index_and_generation_config(folder: Path, tree: Any) -> None:
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": tree}))
    (folder / "generation_config.json").write_text(json.dumps(tree))
    attempt(folder)


@LENIENT
@given(data=st.data())
def test_gguf_bytes(tmp_path: Path, data: st.DataObject) -> None:
    whole = tmp_path / "whole.gguf"
    if not whole.exists():
        write_gguf(whole, "gemma3", {"attention.sliding_window": 8})
    changed = bytearray(whole.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        changed[data.draw(st.integers(0, 900))] = data.draw(st.integers(0, 255))
    path = tmp_path / "changed.gguf"
    path.write_bytes(bytes(changed[: data.draw(st.integers(0, len(changed)))]))
    attempt(path)
