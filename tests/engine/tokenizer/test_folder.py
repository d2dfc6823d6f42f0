"""Tokenizers from Hugging Face folders against Transformers, and folders that are wrong."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tiny_model
from tokenizers import processors

from appliance.engine.tokenizer import TextError, Tokenizer, TokenizerError, load


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tiny_model.make_tokenizer(tmp_path)
    return tmp_path


def edit(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def theirs(folder: Path) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder)


def test_ids_and_texts_equal_transformers(folder: Path, nasty: list[str]) -> None:
    ours, reference = load(folder), theirs(folder)
    for text in nasty:
        for special in (True, False):
            assert ours.encode(text, add_special_tokens=special) == reference.encode(text, add_special_tokens=special)
        ids = ours.encode(text)
        for skip in (True, False):
            assert ours.decode(ids, skip_special=skip) == reference.decode(ids, skip_special_tokens=skip)
    assert ours.encode_many(nasty) == [ours.encode(text) for text in nasty]
    assert ours.eos_ids == (reference.eos_token_id,) and ours.special_tokens.get("pad_token") == reference.pad_token
    assert ours.added_ids == set(reference.get_added_vocab().values())
    assert ours.special_tokens["eos_token"] == reference.eos_token


def test_bos_comes_from_the_post_processor(folder: Path) -> None:
    import tokenizers

    backend = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    backend.post_processor = processors.TemplateProcessing(
        single="<|endoftext|> $A <|im_end|>", special_tokens=[("<|endoftext|>", 0), ("<|im_end|>", 2)]
    )
    backend.save(str(folder / "tokenizer.json"))
    tokenizer = load(folder)
    assert tokenizer.encode("yes")[0] == 0 and tokenizer.encode("yes")[-1] == 2
    assert tokenizer.encode("yes", add_special_tokens=False) == tokenizer.encode("yes")[1:-1]


def test_truncation_in_the_file_is_not_followed(folder: Path) -> None:
    import tokenizers

    backend = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    backend.enable_truncation(3)
    backend.enable_padding(length=8)
    backend.save(str(folder / "tokenizer.json"))
    assert len(load(folder).encode("river mountain window forest")) == 4
    assert len(load(folder).encode("yes")) == 1


def test_tokens_only_the_configuration_lists_are_added(folder: Path) -> None:
    size = load(folder).vocab_size
    listed = {
        str(size + 1): {"content": "</think>", "special": False},
        str(size): {"content": "<think>", "special": False},
        str(size + 2): {"content": "<|tool|>", "special": True},
    }
    edit(folder / "tokenizer_config.json", added_tokens_decoder=listed)
    tokenizer = load(folder)
    assert tokenizer.encode("<think></think><|tool|>") == [size, size + 1, size + 2]
    assert {size, size + 1, size + 2} <= tokenizer.added_ids
    assert tokenizer.special_ids & {size, size + 1, size + 2} == {size + 2}
    assert tokenizer.vocab_size == size + 3


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, (2,)),
        ({"config.json": {"eos_token_id": 0}}, (2, 0)),
        ({"config.json": {"eos_token_id": 0}, "generation_config.json": {"eos_token_id": [1, 2]}}, (2, 1)),
        ({"generation_config.json": {"eos_token_id": None}}, (2,)),
        ({"generation_config.json": {"eos_token_id": [99999, 1]}}, (2, 1)),
    ],
)
def test_every_end_of_text_id_counts(files: dict[str, Any], expected: tuple[int, ...], folder: Path) -> None:
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content))
    assert load(folder).eos_ids == expected


def test_special_tokens_as_templates_see_them(folder: Path) -> None:
    edit(
        folder / "tokenizer_config.json",
        bos_token={"content": "<|im_start|>", "lstrip": False},
        extra_special_tokens={"image_token": "<|endoftext|>"},
        additional_special_tokens=None,
    )
    (folder / "chat_template.jinja").write_text("{{ bos_token }}{{ image_token }}{{ eos_token }}")
    assert load(folder).render_chat([]) == "<|im_start|><|endoftext|><|im_end|>"


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda folder: (folder / "tokenizer.json").unlink(), "there is no tokenizer; tokenizer.json is needed"),
        (lambda folder: (folder / "tokenizer.json").rename(folder / "tokenizer.model"), "only tokenizer.model"),
        (lambda folder: (folder / "tokenizer.json").write_text("{}"), r"tokenizer\.json: cannot be read"),
        (lambda folder: (folder / "tokenizer.json").write_bytes(b"\xff\xfe"), r"tokenizer\.json: cannot be read"),
        (
            lambda folder: (folder / "tokenizer_config.json").write_text("{"),
            r"tokenizer_config\.json: is not valid JSON",
        ),
        (lambda folder: (folder / "tokenizer_config.json").write_text("[]"), "must hold a JSON object"),
        (lambda folder: (folder / "tokenizer_config.json").write_text("[" * 100_000), "is not valid JSON"),
        (lambda folder: edit(folder / "tokenizer_config.json", chat_template=5), "chat_template: Expected"),
        (lambda folder: edit(folder / "tokenizer_config.json", chat_template=["x"]), "chat_template: Expected"),
        (lambda folder: edit(folder / "tokenizer_config.json", chat_template=[{"name": "default"}]), "`template`"),
        (lambda folder: edit(folder / "tokenizer_config.json", added_tokens_decoder=[]), "added_tokens_decoder: "),
        (lambda folder: edit(folder / "tokenizer_config.json", added_tokens_decoder={"7": {}}), "`content`"),
        (lambda folder: edit(folder / "tokenizer_config.json", added_tokens_decoder={"x": {}}), "`int`"),
    ],
)
def test_damaged_folders_are_told(damage: Callable[[Path], Any], says: str, folder: Path) -> None:
    damage(folder)
    with pytest.raises(TokenizerError, match=says):
        load(folder)


def test_a_missing_path_is_told(tmp_path: Path) -> None:
    with pytest.raises(TokenizerError, match="there is no such model folder or file"):
        load(tmp_path / "nowhere")


def test_half_characters_cannot_be_encoded(folder: Path) -> None:
    tokenizer = load(folder)
    for encode in (tokenizer.encode, lambda text: tokenizer.encode_many(["fine", text])):
        with pytest.raises(TextError, match="half of a surrogate pair"):
            encode("a\ud800b")


def test_the_lower_bound_of_tokens_is_one(folder: Path, nasty: list[str], smollm2: Path) -> None:
    for tokenizer in (load(folder), load(smollm2)):
        for text in [*nasty, " " * 5000, "the engine" * 500]:
            assert tokenizer.fewest_tokens(text) <= len(tokenizer.encode(text))
        assert tokenizer.fewest_tokens("x" * 100_000) > 1000


def test_one_tokenizer_serves_many_threads(folder: Path, nasty: list[str]) -> None:
    from concurrent.futures import ThreadPoolExecutor

    tokenizer: Tokenizer = load(folder)
    expected = [tokenizer.encode(text) for text in nasty]
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda _: [tokenizer.encode(text) for text in nasty], range(40)):
            assert found == expected
