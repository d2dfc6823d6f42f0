"""Rules that read the checkpoint, on real checkpoints."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Check = Callable[..., Any]


def found(result: Any) -> dict[str, str]:
    return {diagnostic.code: diagnostic.message for diagnostic in result.diagnostics}


@pytest.fixture
def model(tiny_model: Callable[..., Path]) -> Path:
    return tiny_model("llama")


def test_good_model_has_no_findings(check: Check, model: Path) -> None:
    assert found(check("security: {bind: 127.0.0.1:0}", source=str(model))) == {}


def test_context_beyond_the_model(check: Check, model: Path) -> None:
    positions = json.loads((model / "config.json").read_text())["max_position_embeddings"]
    result = check("security: {bind: 127.0.0.1:0}", source=str(model), max_context=str(positions + 1))
    assert found(result) == {"AP0205": f"{positions + 1} tokens, the model was made for {positions}"}
    assert (result.diagnostics[0].position.line, result.diagnostics[0].position.column) == (6, 16)


def test_tensor_parallelism_that_does_not_divide_the_heads(check: Check, model: Path) -> None:
    heads = json.loads((model / "config.json").read_text())["num_attention_heads"]
    codes = found(check(f"parallelism: {{tensor: {heads + 1}}}", source=str(model)))
    assert f"{heads + 1} does not divide the model's {heads} attention heads" in codes["AP0220"]


@pytest.fixture
def embedder(tmp_path: Path) -> Path:
    folder = tmp_path / "embedder"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"architectures": ["BertModel"], "model_type": "bert"}))
    return folder


def test_required_decisions_on_an_embedding_model(check: Check, embedder: Path) -> None:
    result = check("endpoints: {systemone: required, chat: on, completions: off}", source=str(embedder))
    severities = {
        (diagnostic.path, str(diagnostic.severity)) for diagnostic in result.diagnostics if diagnostic.code == "AP0230"
    }
    assert severities == {("endpoints.systemone", "error"), ("endpoints.chat", "warning")}


def test_unknown_architecture_names_the_supported_ones(check: Check, tmp_path: Path) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"architectures": ["OddForCausalLM"], "model_type": "odd"}))
    result = check("", source=str(folder))
    finding = next(diagnostic for diagnostic in result.diagnostics if diagnostic.code == "AP0302")
    assert "OddForCausalLM" in finding.message
    assert "LlamaForCausalLM" in str(finding)


def test_truncated_weights(check: Check, model: Path, tmp_path: Path) -> None:
    folder = tmp_path / "cut"
    folder.mkdir()
    for file in model.iterdir():
        data = file.read_bytes()
        (folder / file.name).write_bytes(data[: len(data) // 2] if file.suffix == ".safetensors" else data)
    assert "AP0302" in found(check("", source=str(folder)))


def test_truncated_gguf(check: Check, tmp_path: Path) -> None:
    (tmp_path / "cut.gguf").write_bytes(b"GGUF\x03\x00\x00\x00\xff\x00")
    assert "AP0302" in found(check("", source="cut.gguf"))


class Packed:
    """A KV format that only one platform has, and only for even blocks of small heads."""

    platforms = frozenset({"cuda"})

    def problem(self, head_dim: int, block_tokens: int) -> str | None:
        return f"{block_tokens} tokens of heads of {head_dim} cannot be packed" if block_tokens % 32 else None


@pytest.fixture
def packed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("appliance.validate.rules.kv_cache.FORMATS", {"nvfp4": "nvfp4"})
    monkeypatch.setattr("appliance.validate.rules.kv_cache.kv_format", lambda name: Packed())


@pytest.mark.usefixtures("packed")
def test_format_that_the_platform_does_not_offer(check: Check) -> None:
    codes = found(check("kv_cache: {dtype: nvfp4}\nhardware: {platform: cpu}"))
    assert codes["AP0210"] == "nvfp4 is not offered on cpu"


@pytest.mark.usefixtures("packed")
def test_block_against_head(check: Check, model: Path) -> None:
    codes = found(check("kv_cache: {dtype: nvfp4, block_tokens: 16}", source=str(model)))
    assert codes["AP0211"].startswith("16 tokens of heads of ")
    assert "AP0211" not in found(check("kv_cache: {dtype: nvfp4, block_tokens: 32}", source=str(model)))
