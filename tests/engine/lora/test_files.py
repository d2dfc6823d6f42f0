"""Adapters that cannot be served are refused by the field or tensor that says so; nothing stays resident."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from in_process import InProcess, greedy
from lora_files import write_adapter
from msgspec import structs
from safetensors.torch import load_file, save_file

from appliance.engine.checkpoint.errors import CheckpointError
from appliance.engine.lora.stored import memory_bytes

PROMPT = list(range(5, 40))


@pytest.fixture(scope="module")
def model(tiny_model: Callable[..., Path]) -> Path:
    return tiny_model("llama")


@pytest.fixture(scope="module")
def engine(model: Path) -> InProcess:
    return InProcess(model)


@pytest.mark.parametrize("rank", [4, 16, 20])
def test_memory_is_known_from_the_header(engine: InProcess, model: Path, tmp_path: Path, rank: int) -> None:
    folder = write_adapter(tmp_path, model, rank=rank, ranks={"v_proj": 3})
    adapters = engine.engine.adapters
    adapters.load("sized", str(folder))
    assert memory_bytes(folder, 4) == adapters.by_name["sized"].facts.nbytes
    adapters.unload("sized")


def change_config(folder: Path, **fields: Any) -> None:
    path = folder / "adapter_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


def change_tensors(folder: Path, change: Callable[[dict[str, torch.Tensor]], None]) -> None:
    path = folder / "adapter_model.safetensors"
    tensors = load_file(path)
    change(tensors)
    save_file(tensors, path)


def refused(engine: InProcess, folder: Path) -> str:
    before = engine.tokens([greedy("before", PROMPT, 8)])["before"]
    with pytest.raises(CheckpointError) as error:
        engine.engine.adapters.load("a", str(folder))
    assert not engine.engine.adapters.by_name
    assert all(part.linear.change is None for part in engine.runner.model.parameters.parts.values())
    assert engine.tokens([greedy("after", PROMPT, 8)])["after"] == before
    (update,) = engine.run([structs.replace(greedy("a", PROMPT), adapter="a")])["a"]
    assert update.error == "no adapter 'a' is loaded"
    return str(error.value)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"use_dora": True}, "use_dora is True, which is not supported"),
        ({"modules_to_save": ["lm_head"]}, "modules_to_save is ['lm_head'], which is not supported"),
        ({"bias": "all"}, "bias is 'all', which is not supported"),
        ({"lora_bias": True}, "lora_bias is True"),
        ({"fan_in_fan_out": True}, "fan_in_fan_out is True"),
        ({"trainable_token_indices": [1, 2]}, "trainable_token_indices is [1, 2]"),
        ({"target_parameters": ["experts"]}, "target_parameters is ['experts']"),
        ({"layer_replication": [[0, 2]]}, "layer_replication is [[0, 2]]"),
        ({"use_something_new": {"x": 1}}, "use_something_new is {'x': 1}, which is not supported"),
        ({"init_lora_weights": "pissa"}, "init_lora_weights is 'pissa': the adapter belongs to altered base weights"),
        ({"peft_type": "IA3"}, "peft_type is 'IA3', only LORA adapters are served"),
        ({"peft_type": None}, "has no peft_type"),
        ({"task_type": "SEQ_CLS"}, "task_type is 'SEQ_CLS', expected CAUSAL_LM"),
        ({"r": 0}, "r is 0, expected an integer from 1 to 512"),
        ({"r": 4096}, "r is 4096, expected an integer from 1 to 512"),
        ({"r": "8"}, "r is '8'"),
        ({"lora_alpha": -1}, "lora_alpha is -1"),
        ({"lora_alpha": float("nan")}, "lora_alpha is nan"),
        ({"rank_pattern": {"q_proj": 100_000}}, "q_proj is 100000, expected an integer from 1 to 512"),
        ({"alpha_pattern": {"(": 3}}, "alpha_pattern holds '(', no pattern"),
        ({"alpha_pattern": [1]}, "alpha_pattern is [1], expected an object"),
        ({"target_modules": []}, "target_modules is [], expected names of modules"),
        ({"target_modules": [5]}, "target_modules is [5], expected names of modules"),
        ({"target_modules": "[a-"}, "target_modules holds '[a-', no pattern"),
        ({"target_modules": ["q_proj"]}, "holds tensors that change nothing this engine can change"),
        ({"target_modules": ["lm_head"]}, "holds tensors that change nothing this engine can change"),
        ({"layers_to_transform": [0]}, "holds tensors that change nothing this engine can change"),
        ({"layers_to_transform": ["0"]}, "layers_to_transform is ['0'], expected numbers of layers"),
        ({"layers_pattern": "blocks"}, "layers_pattern is 'blocks', expected layers"),
        ({"exclude_modules": ["v_proj"]}, "holds tensors that change nothing this engine can change"),
        ({"r": 5}, "lora_A of model.layers.0.self_attn.q_proj is [4, 64], model and rank say [5, 64]"),
    ],
)
def test_a_setting_that_cannot_be_served(
    engine: InProcess, model: Path, tmp_path: Path, fields: dict[str, Any], says: str
) -> None:
    write_adapter(tmp_path, model)
    change_config(tmp_path, **fields)
    text = refused(engine, tmp_path)
    assert says in text and text.startswith(str(tmp_path))


FIRST = "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda t: t.pop(FIRST), "has no lora_A and lora_B of 'model.layers.0.self_attn.q_proj'"),
        (lambda t: t.clear(), "has no lora_A and lora_B of 'model.layers.0.self_attn.q_proj'"),
        (lambda t: t.update({FIRST: t[FIRST].mT.contiguous()}), "q_proj is [64, 4], model and rank say [4, 64]"),
        (lambda t: t[FIRST].__setitem__((0, 0), torch.nan), "q_proj holds values that are no numbers"),
        (lambda t: t[FIRST].__setitem__((0, 0), torch.inf), "q_proj holds values that are no numbers"),
        (lambda t: t.update(extra=torch.zeros(1)), "change nothing this engine can change: 'extra'"),
        (
            lambda t: t.update({"base_model.model.model.embed_tokens.lora_embedding_A": torch.zeros(4, 512)}),
            "change nothing this engine can change: 'base_model.model.model.embed_tokens.lora_embedding_A'",
        ),
        (
            lambda t: t.update({FIRST.replace("layers.0", "layers.99"): torch.zeros(4, 64)}),
            "'base_model.model.model.layers.99.self_attn.q_proj.lora_A.weight'",
        ),
        (lambda t: t.update({FIRST: t[FIRST].to(torch.int8)}), "has dtype 'I8'"),
    ],
)
def test_tensors_that_do_not_fit(
    engine: InProcess, model: Path, tmp_path: Path, change: Callable[[dict[str, torch.Tensor]], None], says: str
) -> None:
    write_adapter(tmp_path, model)
    change_tensors(tmp_path, change)
    assert says in refused(engine, tmp_path)


def test_files_that_are_no_adapter(engine: InProcess, model: Path, tmp_path: Path) -> None:
    assert "is no folder" in refused(engine, tmp_path / "nowhere")
    assert "adapter_config.json: cannot be read" in refused(engine, tmp_path)
    write_adapter(tmp_path, model)
    weights = tmp_path / "adapter_model.safetensors"
    whole = weights.read_bytes()
    for damaged, says in ((whole[:-1], "its header describes"), (b"", "header length"), (b"x" * 500, "header length")):
        weights.write_bytes(damaged)
        assert says in refused(engine, tmp_path)
    weights.unlink()
    assert "adapter_model.safetensors: cannot be read" in refused(engine, tmp_path)
    (tmp_path / "adapter_model.bin").write_bytes(b"\x80\x04")
    assert "has adapter_model.bin, no adapter_model.safetensors; convert it" in refused(engine, tmp_path)
    (tmp_path / "adapter_config.json").write_text("[]")
    assert "not an object" in refused(engine, tmp_path)


def test_an_adapter_of_another_model(engine: InProcess, tiny_model: Callable[..., Path], tmp_path: Path) -> None:
    write_adapter(tmp_path, tiny_model("llama", num_hidden_layers=4))
    assert "layers.3" in refused(engine, tmp_path)


@pytest.mark.parametrize(
    "fields",
    [
        {"target_modules": "all-linear"},
        {"target_modules": r".*_proj"},
        {"target_modules": r"model\.layers\.\d+\..*", "exclude_modules": "lm_head"},
        {"use_rslora": None, "eva_config": {"rho": 2.0}, "init_lora_weights": "eva", "something_new": False},
    ],
)
def test_what_names_the_same_modules_is_the_same_adapter(model: Path, tmp_path: Path, fields: dict[str, Any]) -> None:
    plain = write_adapter(tmp_path / "plain", model)
    other = write_adapter(tmp_path / "other", model)
    change_config(other, **fields)
    engine = InProcess(model)
    for folder in (plain, other):
        engine.engine.adapters.load(folder.name, str(folder))
    requests = [structs.replace(greedy(name, PROMPT), adapter=name) for name in ("plain", "other")]
    tokens = engine.tokens(requests)
    assert tokens["plain"] == tokens["other"] != engine.tokens([greedy("base", PROMPT)])["base"]


def test_some_layers_only(model: Path, tmp_path: Path) -> None:
    engine = InProcess(model)
    engine.engine.adapters.load("a", str(write_adapter(tmp_path, model, layers=[0, 2])))
    changed = {name for name, part in engine.runner.model.parameters.parts.items() if part.linear.change is not None}
    assert {int(name.split(".")[2]) for name in changed} == {0, 2}
    engine.engine.adapters.unload("a")
    assert all(part.linear.change is None for part in engine.runner.model.parameters.parts.values())
