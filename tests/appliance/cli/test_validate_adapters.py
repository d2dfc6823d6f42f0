"""`appliance validate` counts LoRA adapters as booting does."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bare_model import bare_model

import appliance.plan
from appliance.plan import MACHINES

Run = Callable[..., Any]
HEAD = 'schema: 1\nname: triage\nrelease: "0.32"\nsecurity: {bind: 127.0.0.1:0}\n'
CONFIG = {"peft_type": "LORA", "r": 16, "lora_alpha": 16, "target_modules": ["q_proj"]}
RANK = 16


def adapter_of(folder: Path, numbers: int) -> None:
    """One that claims so many half-precision numbers; its file has no bytes on the disk but the header's."""
    folder.mkdir(exist_ok=True)
    (folder / "adapter_config.json").write_text(json.dumps(CONFIG))
    tensor = {"dtype": "F16", "shape": [RANK, numbers // RANK], "data_offsets": [0, numbers * 2]}
    header = json.dumps({"base_model.model.q_proj.lora_A.weight": tensor}).encode()
    with (folder / "adapter_model.safetensors").open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        file.truncate(8 + len(header) + numbers * 2)


@pytest.fixture
def tuned(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """tuned.yaml with the adapter of the folder ./adapter, on a machine of 16 GiB."""
    bare_model(tmp_path / "model")
    monkeypatch.setattr(appliance.plan, "probe", lambda: MACHINES["cpu-4c-16g"])
    file = tmp_path / "tuned.yaml"
    file.write_text(f"{HEAD}model: {{source: ./model, adapters: [{{name: a, source: ./adapter}}]}}\n")
    return file


@pytest.mark.parametrize(("numbers", "code"), [(RANK << 10, 0), (RANK << 30, 1)])
def test_their_memory_counts(run: Run, tuned: Path, tmp_path: Path, numbers: int, code: int) -> None:
    adapter_of(tmp_path / "adapter", numbers)
    ran, planned = run("validate", "tuned.yaml"), run("plan", "tuned.yaml")
    assert (ran.code, planned.code) == (code, code), ran.out + planned.err
    assert ("AP0401" in ran.out) == ("AP0401" in planned.err) == bool(code), ran.out + planned.err


def test_one_whose_weights_are_cut_is_refused_at_its_line(run: Run, tuned: Path, tmp_path: Path) -> None:
    adapter_of(tmp_path / "adapter", RANK << 10)
    (tmp_path / "adapter" / "adapter_model.safetensors").write_bytes(b"cut")
    ran = run("validate", "tuned.yaml")
    assert ran.code == 1 and "tuned.yaml:5:" in ran.out and "AP0410 error model.adapters[0].source" in ran.out, ran.out


def test_one_that_was_not_fetched_yet_is_a_note(
    run: Run, tuned: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("APPLIANCE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    tuned.write_text(tuned.read_text().replace("./adapter", "hf:nobody/nothing"))
    ran = run("validate", "--strict", "tuned.yaml")
    assert ran.code == 0 and "fetches it" in ran.out, ran.out
    assert "AP0301 note model.adapters[0].source: the adapter is not on this machine yet" in ran.out
