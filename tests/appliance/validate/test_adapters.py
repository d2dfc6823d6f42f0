"""Adapters that lie on this machine are looked at before anything boots."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from appliance.diagnostics import ApplianceError, Position
from appliance.source import resolve_adapters
from appliance.validate import validate

CONFIG = {"peft_type": "LORA", "r": 8, "lora_alpha": 16, "target_modules": ["q_proj"]}


def findings(folder: Path, source: str, backend: str = "native") -> list[str]:
    profile = folder / "profile.yaml"
    profile.write_text(
        'schema: 1\nname: triage\nrelease: "0.32"\n'
        f"model: {{source: hf:org/name, adapters: [{{name: a, source: {source}}}]}}\nengine: {{backend: {backend}}}\n"
    )
    found = [d for d in validate(profile).diagnostics if d.path.startswith("model.adapters")]
    assert all(d.path == "model.adapters[0].source" and d.position.line == 4 for d in found)
    return [f"{d.code} {d.message}; {d.fix}" for d in found]


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    assert findings(tmp_path, "./gone") == [f"AP0301 no folder {tmp_path}/gone; correct the path"]


def test_a_file_of_another_kind(tmp_path: Path) -> None:
    (tmp_path / "a.gguf").write_bytes(b"GGUF")
    (said,) = findings(tmp_path, "./a.gguf")
    assert said.startswith("AP0302 a .gguf file is no adapter")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"use_dora": True}, "use_dora is True, which is not supported; train without it"),
        ({"r": 100_000}, "r is 100000, expected an integer from 1 to 512"),
        ({"peft_type": "PREFIX_TUNING"}, "peft_type is 'PREFIX_TUNING', only LORA adapters are served"),
    ],
)
def test_settings_the_engine_does_not_know(tmp_path: Path, changes: dict[str, object], says: str) -> None:
    (tmp_path / "adapter_config.json").write_text(json.dumps(CONFIG | changes))
    (said,) = findings(tmp_path, str(tmp_path))
    assert said.startswith(f"AP0302 {tmp_path}/adapter_config.json: ") and says in said
    assert findings(tmp_path, str(tmp_path), "vllm") == []


def test_one_that_can_be_served(tmp_path: Path) -> None:
    (tmp_path / "adapter_config.json").write_text(json.dumps(CONFIG))
    assert findings(tmp_path, str(tmp_path)) == []
    assert findings(tmp_path, "hf:org/adapter") == []


def adapted(*sources: str) -> Any:
    return SimpleNamespace(adapters=[SimpleNamespace(name=source, source=source) for source in sources])


def test_pull_says_which_field_cannot_be_had(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "here/adapter_config.json").write_text("{}")
    with pytest.raises(ApplianceError) as error:
        resolve_adapters(adapted("./here", "./gone"), True, tmp_path, lambda path: Position("p.yaml", 4, 9))
    assert str(error.value.diagnostics[0]).startswith(
        f"p.yaml:4:9 AP0502 error model.adapters[1].source: no folder {tmp_path}/gone"
    )
    (tmp_path / "here/adapter_config.json").unlink()
    with pytest.raises(ApplianceError) as error:
        resolve_adapters(adapted("./here"), True, tmp_path, lambda path: Position("p.yaml"))
    assert "has no adapter_config.json" in str(error.value.diagnostics[0])
