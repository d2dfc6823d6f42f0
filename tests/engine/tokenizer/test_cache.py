"""A GGUF vocabulary is converted once; what is kept is used, and damage is survived."""

import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from appliance.engine.tokenizer import gguf_cache, load

KEYS = {
    "model": "gpt2",
    "pre": "gpt-2",
    "tokens": ["<|im_end|>", "a", "b", "ab"],
    "merges": ["a b"],
    "token_type": [3, 1, 1, 1],
    "eos_token_id": 0,
}


@pytest.fixture
def entry(own_cache: Path, write_gguf: Callable[..., Path]) -> Path:
    load(write_gguf(**KEYS, chat_template="{{ messages[0].content }}"))
    (found,) = (own_cache / "tokenizers").iterdir()
    return found


def test_the_second_load_reads_the_cache(
    entry: Path, write_gguf: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(gguf_cache, "read_gguf", lambda *_, **__: pytest.fail("the vocabulary was read again"))
    tokenizer = load(tmp_path / "vocabulary.gguf")
    assert tokenizer.encode("ab<|im_end|>") == [3, 0]
    assert tokenizer.eos_ids == (0,)
    assert tokenizer.render_chat([{"role": "user", "content": "hi"}]) == "hi"


@pytest.mark.parametrize("damage", [b"", b"{}\n", b"garbage", b"half"])
def test_a_damaged_entry_is_logged_and_built_again(
    damage: bytes, entry: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    whole = entry.read_bytes()
    entry.write_bytes(whole[:-20] if damage == b"half" else damage)
    with caplog.at_level(logging.WARNING):
        assert load(tmp_path / "vocabulary.gguf").encode("ab") == [3]
    assert "is unusable" in caplog.text
    assert entry.read_bytes() == whole


def test_another_file_of_the_same_name_is_not_confused(entry: Path, write_gguf: Callable[..., Path]) -> None:
    path = write_gguf(**KEYS | {"tokens": ["<|im_end|>", "b", "a", "ab"]})
    assert load(path).encode("ba") == [1, 2]


def test_an_unwritable_cache_is_said_and_survived(
    tmp_path: Path, write_gguf: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("APPLIANCE_CACHE", str(tmp_path / "file"))
    with caplog.at_level(logging.WARNING):
        assert load(write_gguf(**KEYS)).encode("ab") == [3]
    assert "cannot be cached" in caplog.text


def test_nothing_half_written_stays(entry: Path) -> None:
    assert [path.name for path in entry.parent.iterdir()] == [entry.name]
