"""Checkpoints without weights: just enough files for vLLM to build every config class on them."""

import json
from pathlib import Path
from typing import Any

_TEXT = {
    "architectures": ["Qwen3MoeForCausalLM"],
    "model_type": "qwen3_moe",
    "hidden_size": 1024,
    "intermediate_size": 2048,
    "moe_intermediate_size": 256,
    "num_experts": 64,
    "num_experts_per_tok": 2,
    "num_hidden_layers": 8,
    "num_attention_heads": 64,
    "num_key_value_heads": 64,
    "head_dim": 16,
    "vocab_size": 512,
    "max_position_embeddings": 262144,
    "rope_theta": 1000000.0,
    "torch_dtype": "bfloat16",
}
_INNER = {
    key: value for key, value in _TEXT.items() if not key.startswith(("moe", "num_experts", "arch", "model_type"))
}
_VISION = {
    "architectures": ["Idefics3ForConditionalGeneration"],
    "model_type": "idefics3",
    "text_config": {**_INNER, "model_type": "llama"},
    "vision_config": {"model_type": "idefics3_vision", "hidden_size": 64, "num_hidden_layers": 2},
    "image_token_id": 503,
    "torch_dtype": "bfloat16",
}
_DRAFT = {**_INNER, "architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3"}
_MARKS = ("<think>", "</think>", "<|end_of_text|>")


def make_models(folder: Path) -> dict[str, str]:
    """What each is for -> its folder."""
    made = {}
    for name, config in (("text", _TEXT), ("vision", _VISION), ("draft", _DRAFT)):
        place = folder / name
        place.mkdir()
        (place / "config.json").write_text(json.dumps(config))
        (place / "tokenizer.json").write_text(json.dumps(_tokenizer()))
        (place / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast"}))
        made[name] = str(place)
    return made


def _tokenizer() -> dict[str, Any]:
    vocabulary = {"[UNK]": 0, **{mark: index for index, mark in enumerate(_MARKS, 1)}}
    added = [
        {"id": index, "content": mark, "special": True, "normalized": False, "lstrip": False, "rstrip": False}
        | {"single_word": False}
        for mark, index in vocabulary.items()
    ]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": None,
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": None,
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"},
    }
