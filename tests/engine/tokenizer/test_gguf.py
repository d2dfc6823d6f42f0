"""Vocabularies out of GGUF files against Transformers on the same files."""

import json
import logging
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from appliance.engine.tokenizer import TokenizerError, load
from appliance.engine.tokenizer.pre_tokenizers import SPLITS

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]


def transformers_tokenizer(path: Path):
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(str(path.parent), gguf_file=path.name)


def byte_level_keys(pre: str, nasty: list[str]) -> dict:
    """A vocabulary trained on the nasty texts with the very split that `pre` names."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = SPLITS[pre].build()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(
        vocab_size=900, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
    )
    trained.train_from_iterator(nasty * 3, trainer)
    ordered = sorted(trained.get_vocab().items(), key=lambda item: item[1])
    tokens = [token for token, _ in ordered] + ["<think>"]
    merges = [" ".join(pair) for pair in json.loads(trained.to_str())["model"]["merges"]]
    types = [3 if token in SPECIAL else 4 if token == "<think>" else 1 for token in tokens]
    return {"model": "gpt2", "pre": pre, "tokens": tokens, "merges": merges, "token_type": types, "eos_token_id": 2}


def test_the_real_model_equals_transformers(smollm2: Path, nasty: list[str]) -> None:
    from tokenizers import pre_tokenizers

    ours, theirs = load(smollm2), transformers_tokenizer(smollm2)
    # as the model's own tokenizer.json has it; from a GGUF Transformers takes GPT-2's, which joins a space and ½
    theirs.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    for text in nasty:
        assert ours.encode(text) == theirs.encode(text), text
        ids = ours.encode(text)
        assert ours.decode(ids) == theirs.decode(ids)
        assert ours.decode(ids, skip_special=True) == theirs.decode(ids, skip_special_tokens=True)
    assert ours.eos_ids == (theirs.eos_token_id,)
    assert ours.special_tokens["bos_token"] == theirs.bos_token
    assert ours.special_tokens.get("pad_token") == theirs.pad_token
    assert ours.added_ids == set(theirs.get_added_vocab().values())
    assert ours.vocab_size == len(theirs)


@pytest.mark.parametrize("pre", ["gpt-2", "llama-bpe", "qwen2", "qwen35", "tekken", "gpt-4o", "dbrx"])
def test_byte_level_splits_equal_transformers(pre: str, nasty: list[str], write_gguf: Callable[..., Path]) -> None:
    path = write_gguf(**byte_level_keys(pre, nasty))
    ours, theirs = load(path), transformers_tokenizer(path)
    for text in nasty:
        assert ours.encode(text) == theirs.encode(text), text
        assert ours.decode(ours.encode(text)) == text


@pytest.mark.parametrize("pre", sorted(SPLITS))
def test_every_known_split_loses_nothing(pre: str, nasty: list[str], write_gguf: Callable[..., Path]) -> None:
    tokenizer = load(write_gguf(**byte_level_keys(pre, nasty)))
    for text in nasty:
        assert tokenizer.decode(tokenizer.encode(text)) == text


def test_digits_stand_alone_in_smollm(nasty: list[str], write_gguf: Callable[..., Path]) -> None:
    tokenizer = load(write_gguf(**byte_level_keys("smollm", nasty)))
    assert [tokenizer.decode([i]) for i in tokenizer.encode("20 241")] == ["2", "0", " ", "2", "4", "1"]


def test_bos_and_eos_as_the_file_says(nasty: list[str], write_gguf: Callable[..., Path]) -> None:
    keys = byte_level_keys("llama-bpe", nasty) | {"bos_token_id": 1}
    plain = load(write_gguf("a.gguf", **keys, add_bos_token=False)).encode("Hello")
    assert load(write_gguf("b.gguf", **keys)).encode("Hello") == [1, *plain]
    both = load(write_gguf("c.gguf", **keys, add_bos_token=True, add_eos_token=True))
    assert both.encode("Hello") == [1, *plain, 2]
    assert both.encode("Hello", add_special_tokens=False) == plain


def test_every_end_of_turn_token_counts(nasty: list[str], write_gguf: Callable[..., Path]) -> None:
    keys = byte_level_keys("qwen2", nasty) | {"eot_token_id": 0, "eom_token_id": 2}
    assert load(write_gguf(**keys)).eos_ids == (2, 0)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"pre": "martian"}, 'tokenizer.ggml.pre is "martian".*known are .*llama-bpe, .*qwen2'),
        ({"model": "bert"}, 'tokenizer.ggml.model is "bert"; known are gpt2, llama'),
        ({"merges": None}, "holds no tokenizer.ggml.merges"),
        ({"merges": ["nothing known"]}, "merges do not fit the vocabulary"),
        ({"tokens": None}, "holds no tokenizer.ggml.tokens"),
    ],
)
def test_what_cannot_be_built_is_refused(
    change: dict, says: str, nasty: list[str], write_gguf: Callable[..., Path]
) -> None:
    with pytest.raises(TokenizerError, match=says):
        load(write_gguf(**byte_level_keys("qwen2", nasty) | change))


@pytest.mark.parametrize("kept", [0, 3, 100, 5000])
def test_a_truncated_file_is_told(kept: int, nasty: list[str], write_gguf: Callable[..., Path]) -> None:
    path = write_gguf(**byte_level_keys("qwen2", nasty))
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(TokenizerError, match=r"vocabulary\.gguf: "):
        load(path)


def test_a_missing_split_name_is_said(
    nasty: list[str], write_gguf: Callable[..., Path], caplog: pytest.LogCaptureFixture
) -> None:
    path = write_gguf(**byte_level_keys("default", nasty) | {"pre": None})
    with caplog.at_level(logging.WARNING):
        load(path)
    assert "does not name its pre-tokenizer" in caplog.text


def greedy_pieces(text: str, keys: dict) -> list[int]:
    """SentencePiece's rule written plainly: join the best-scored neighbours until nothing joins; the rest as bytes."""
    ids = {token: index for index, token in enumerate(keys["tokens"])}
    usable = {t: s for t, s, k in zip(keys["tokens"], keys["scores"], keys["token_type"], strict=True) if k == 1}
    parts = list(text.replace(" ", "▁"))
    while True:
        queue = [(-usable[a + b], i) for i, (a, b) in enumerate(pairwise(parts)) if a + b in usable]
        if not queue:
            break
        _, place = min(queue)
        parts[place : place + 2] = [parts[place] + parts[place + 1]]
    pieces: list[int] = []
    for part in parts:
        pieces += [ids[part]] if part in usable else [ids[f"<0x{byte:02X}>"] for byte in part.encode()]
    return pieces


@pytest.mark.parametrize("prefix", [None, True, False])
def test_sentencepiece_merges_come_from_scores(
    prefix: bool | None, nasty: list[str], write_gguf: Callable[..., Path], sentencepiece_keys: Callable[..., dict]
) -> None:
    keys = sentencepiece_keys(prefix)
    tokenizer = load(write_gguf(**keys))
    for text in ["the cat sat", "hello  world", " they don't", "漢字 漢 字", *nasty[:11]]:
        expected = greedy_pieces(text if prefix is False else " " + text, keys)
        assert tokenizer.encode(text) == [1, *expected], text
        assert tokenizer.decode(expected) == text


def test_sentencepiece_equals_transformers(
    nasty: list[str], write_gguf: Callable[..., Path], sentencepiece_keys: Callable[..., dict]
) -> None:
    # Transformers puts no space in front of a text that begins with one; SentencePiece and llama.cpp do
    path = write_gguf(**sentencepiece_keys())
    ours, theirs = load(path), transformers_tokenizer(path)
    texts = [text for text in nasty if text and not text.startswith(" ") and "<" not in text]
    for text in ["the cat sat on the mat", *texts]:
        assert ours.encode(text) == theirs.encode(text), text
        assert ours.decode(ours.encode(text), skip_special=True) == theirs.decode(
            theirs.encode(text), skip_special_tokens=True
        )
    assert ours.encode("<think>")[-1] == theirs.convert_tokens_to_ids("<think>")
