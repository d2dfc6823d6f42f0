"""What a folder is for, told from config.json alone, also for architectures the engine cannot run."""

import json
from pathlib import Path

import pytest

from appliance.engine.checkpoint import CheckpointError, architecture, read
from appliance.engine.checkpoint.hf_config import BORDERS


def folder(path: Path, name: str | None) -> str:
    (path / "config.json").write_text(json.dumps({"architectures": [name]} if name else {}))
    return str(path)


@pytest.mark.parametrize(
    ("name", "task"),
    [
        ("BertModel", "embed"),
        ("XLMRobertaModel", "embed"),
        ("BertForMaskedLM", "embed"),
        ("Gemma3TextModel", "embed"),
        ("BertForSequenceClassification", "classify"),
        ("WhisperForConditionalGeneration", "transcribe"),
        ("GlmMoeDsaForCausalLM", "generate"),
        ("GPT2LMHeadModel", "generate"),
        ("Gemma3ForConditionalGeneration", "generate"),
        ("SomethingElse", "unknown"),
        (None, "unknown"),
    ],
)
def test_by_class_name(name: str | None, task: str, tmp_path: Path) -> None:
    found = architecture(folder(tmp_path, name))
    assert (found.name, found.task, found.supported) == (name or "", task, False)


@pytest.mark.parametrize("name", BORDERS)
def test_supported(name: str, tmp_path: Path) -> None:
    found = architecture(folder(tmp_path, name))
    assert (found.task, found.supported) == ("generate", True)


def test_decoder_with_a_pooling_module_embeds(tmp_path: Path) -> None:
    (tmp_path / "modules.json").write_text('[{"type": "sentence_transformers.models.Pooling"}]')
    assert architecture(folder(tmp_path, "Qwen3ForCausalLM")).task == "embed"


def test_reading_an_embedding_model_says_what_it_is(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="'BertModel' is an embedding model") as caught:
        read(folder(tmp_path, "BertModel"))
    assert "LlamaForCausalLM" in caught.value.fix


def test_the_models_table_has_the_same_architectures() -> None:
    from appliance.engine.models import ARCHITECTURES

    assert set(ARCHITECTURES) == set(BORDERS)
