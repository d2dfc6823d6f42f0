"""Small tokenizers as GGUF files and as folders, and the texts tokenizers stumble over."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tiny_model
from gguf_files import finish

from appliance.engine.tokenizer import Tokenizer, load

NASTY = [
    "Hello world",
    "two  spaces   three    four",
    " leading and trailing ",
    "tabs\tand\r\nline\n\n\nends \n x",
    "2024-11-30 12345678901234567890 3.14159 ½ ² ٣٤",
    "😀👩‍👩‍👧‍👦🏳️‍🌈 flags 🇩🇪",
    "漢字とひらがな、カタカナ。한국어 中文",
    "שלום עולם مرحبا بالعالم",
    "e\u0301 combining n\u0303 \u200b\u200f\ufeff zero width",
    "control \x00\x01\x1b[0m\x7f chars",
    "def f(x):\n    return {'a': [1, 2], \"b\": x**2} # ok!\n\n\tif x:=3: pass",
    "it's WE'LL don't I'VE they're 'tis",
    "<|im_start|>user\nhi<|im_end|><|im_start|>",
    "text <think>in</think> <|im_end|> after <s></s><unk>",
    "<|im_start|<|im_end|>> ||| <>",
    "ΑΒΓ άέή ǅ ﬁ ẞ ß İı Ω",
    "\U0001d54f\U00010348 \ufffd \uffff",
    "http://example.org/a?b=c&d=%20#e",
    "a" * 300 + " " * 40 + "\n" * 20,
    "",
]


@pytest.fixture(scope="session")
def nasty() -> list[str]:
    return NASTY


@pytest.fixture
def write_gguf(tmp_path: Path) -> Callable[..., Path]:
    """`write_gguf(tokens=[...], model="gpt2", pre="qwen2", ...)` -> file; keys by their names under tokenizer.ggml."""

    def write(name: str = "vocabulary.gguf", chat_template: str | None = None, **keys: Any) -> Path:
        from gguf import GGUFWriter

        path = tmp_path / name
        writer = GGUFWriter(path, "llama")
        for key, value in {
            "block_count": 1,
            "context_length": 64,
            "embedding_length": 32,
            "feed_forward_length": 32,
            "attention.head_count": 1,
            "rope.dimension_count": 32,
        }.items():
            writer.add_uint32(f"llama.{key}", value)
        for key, value in keys.items():
            if value is not None:
                adders = {bool: writer.add_bool, int: writer.add_uint32, str: writer.add_string, list: writer.add_array}
                adders[type(value)](f"tokenizer.ggml.{key}", value)
        if chat_template is not None:
            writer.add_string("tokenizer.chat_template", chat_template)
        finish(writer)
        return path

    return write


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Converted vocabularies of these tests stay out of the user's cache."""
    monkeypatch.setenv("APPLIANCE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(scope="session")
def sentencepiece_keys() -> Callable[..., dict[str, Any]]:
    """Pieces learned from a short text, scored by their rank as SentencePiece does."""

    def keys(prefix: bool | None = None) -> dict[str, Any]:
        from tokenizers import Tokenizer, models, trainers

        text = "▁the▁cat▁sat▁on▁the▁mat▁and▁hello▁world▁they▁then▁hat▁at▁a▁an▁漢字▁it's▁don't▁user▁hi"
        trained = Tokenizer(models.BPE())
        trained.train_from_iterator([text] * 3, trainers.BpeTrainer(vocab_size=90, show_progress=False))
        learned = [token for token, _ in sorted(trained.get_vocab().items(), key=lambda item: item[1])]
        tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *learned, "<think>"]
        types = [2, 3, 3, *[6] * 256, *[1] * len(learned), 4]
        scores = [0.0] * 259 + [float(-rank) for rank in range(len(learned))] + [0.0]
        found: dict[str, Any] = {
            "model": "llama",
            "pre": "default",
            "tokens": tokens,
            "scores": scores,
            "token_type": types,
        }
        return found | {"bos_token_id": 1, "eos_token_id": 2, "unknown_token_id": 0, "add_space_prefix": prefix}

    return keys


@pytest.fixture(scope="session")
def with_template(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Tokenizer, Any]]:
    """(ours, Transformers') over one tokenizer that carries the given template."""
    from transformers import AutoTokenizer

    made: dict[str, tuple[Tokenizer, Any]] = {}

    def make(template: str) -> tuple[Tokenizer, Any]:
        if template not in made:
            folder = tmp_path_factory.mktemp("tokenizer")
            tiny_model.make_tokenizer(folder)
            (folder / "chat_template.jinja").write_text(template)
            made[template] = load(folder), AutoTokenizer.from_pretrained(folder)
        return made[template]

    return make
