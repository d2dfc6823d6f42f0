"""Pieces of a reply: joined they are the whole, and none ends inside a character."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest
import tiny_model
from hypothesis import given, settings
from hypothesis import strategies as st

from appliance.engine.tokenizer import TextStream, Tokenizer, load


@pytest.fixture(scope="module")
def byte_level(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    folder = tmp_path_factory.mktemp("byte-level")
    tiny_model.make_tokenizer(folder)
    return load(folder)


def pieces(stream: TextStream, ids: list[int], cuts: random.Random) -> list[str]:
    """The stream's answers to the ids in steps of one to three, what finish gives last."""
    found = []
    while ids:
        step = cuts.randint(1, 3)
        found.append(stream.push(ids[:step]))
        ids = ids[step:]
    return [*found, stream.finish()]


def check(tokenizer: Tokenizer, ids: list[int], skip: bool, seed: int) -> None:
    whole = tokenizer.decode(ids, skip_special=skip)
    assert "".join(pieces(tokenizer.stream(skip), ids, random.Random(seed))) == whole


@settings(max_examples=300, deadline=None)
@given(ids=st.lists(st.integers(0, 600), max_size=60), skip=st.booleans(), seed=st.integers(0, 9))
def test_random_ids_of_a_byte_level_vocabulary(byte_level: Tokenizer, ids: list[int], skip: bool, seed: int) -> None:
    check(byte_level, ids, skip, seed)


@settings(max_examples=200, deadline=None)
@given(text=st.text(max_size=60), skip=st.booleans(), seed=st.integers(0, 9))
def test_any_text_comes_back_in_whole_characters(byte_level: Tokenizer, text: str, skip: bool, seed: int) -> None:
    ids = byte_level.encode(text)
    found = pieces(byte_level.stream(skip), ids, random.Random(seed))
    assert "".join(found) == byte_level.decode(ids, skip_special=skip)
    if "\ufffd" not in text:
        assert not any("\ufffd" in piece for piece in found)


@pytest.mark.parametrize("skip", [True, False])
@pytest.mark.parametrize("prefix", [True, False])
def test_random_ids_of_a_sentencepiece_vocabulary(
    prefix: bool, skip: bool, write_gguf: Callable[..., Path], sentencepiece_keys: Callable[..., dict]
) -> None:
    tokenizer = load(write_gguf(**sentencepiece_keys(prefix)))
    chance = random.Random(7)
    for seed in range(400):
        # half of the ids are bytes, so that runs of them end in every possible way
        ids = [chance.randrange(3, 259) if chance.random() < 0.5 else chance.randrange(400) for _ in range(20)]
        check(tokenizer, ids, skip, seed)
    for text in ["the cat 漢字 sat", "😀😀 hi", "  two  spaces "]:
        check(tokenizer, tokenizer.encode(text), skip, 0)


def test_random_ids_of_the_real_model(smollm2: Path) -> None:
    tokenizer = load(smollm2)
    chance = random.Random(1)
    for seed in range(300):
        check(tokenizer, [chance.randrange(49152) for _ in range(30)], bool(seed % 2), seed)


def test_a_reply_keeps_the_space_after_its_prompt(
    write_gguf: Callable[..., Path], sentencepiece_keys: Callable[..., dict]
) -> None:
    tokenizer = load(write_gguf(**sentencepiece_keys()))
    prompt, reply = tokenizer.encode("the cat"), tokenizer.encode("sat", add_special_tokens=False)
    assert tokenizer.stream(prompt_ids=prompt).push(reply) == " sat"
    assert tokenizer.stream().push(reply) == "sat"


def test_half_an_emoji_waits_and_is_told_at_the_end(byte_level: Tokenizer) -> None:
    ids = byte_level.encode("a😀")
    stream = byte_level.stream()
    assert [stream.push([i]) for i in ids] == ["a", "", "", "", "😀"]
    broken = byte_level.stream()
    assert broken.push(ids[:-1]) == "a"
    assert broken.finish() == "\ufffd"


def test_special_tokens_are_shown_on_demand(byte_level: Tokenizer) -> None:
    ids = byte_level.encode("no<|im_end|>yes")
    assert byte_level.stream(skip_special=True).push(ids) == "noyes"
    assert byte_level.stream(skip_special=False).push(ids) == "no<|im_end|>yes"
