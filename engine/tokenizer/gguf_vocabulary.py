"""The tokenizer a GGUF file describes, rebuilt as a `tokenizers` object."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import tokenizers
from tokenizers import AddedToken, processors

from .description import Description
from .errors import TokenizerError
from .gguf_bpe import build_byte_level
from .gguf_spm import build_sentencepiece

CONTROL, USER_DEFINED = 3, 4


@dataclass(frozen=True)
class Vocabulary:
    """The `tokenizer.ggml` keys of one file."""

    path: str
    architecture: str
    tokens: list[str]
    keys: dict[str, Any]

    @classmethod
    def read(cls, path: str, metadata: dict[str, Any]) -> "Vocabulary":
        prefix = "tokenizer.ggml."
        keys = {key.removeprefix(prefix): value for key, value in metadata.items() if key.startswith(prefix)}
        tokens = keys.get("tokens")
        if not isinstance(tokens, list) or not tokens:
            raise TokenizerError(path, "the file holds no tokenizer.ggml.tokens", "use a complete GGUF file")
        return cls(path, str(metadata.get("general.architecture", "")), tokens, keys)

    @property
    def types(self) -> list[int]:
        return self.keys.get("token_type") or [1] * len(self.tokens)

    def ids(self) -> dict[str, int]:
        """First id of every spelling: a second token of the same spelling can never come out of text."""
        found: dict[str, int] = {}
        for index, token in enumerate(self.tokens):
            found.setdefault(token, index)
        return found

    def text(self, key: str) -> str | None:
        index = self.keys.get(key)
        return self.tokens[index] if isinstance(index, int) and 0 <= index < len(self.tokens) else None


# each gives the tokenizer without added tokens, and whether BOS is added when the file does not say
BUILDERS: dict[str, Callable[[Vocabulary], tuple[tokenizers.Tokenizer, bool]]] = {
    "gpt2": build_byte_level,
    "llama": build_sentencepiece,
}


def build(path: str, metadata: dict[str, Any]) -> tuple[tokenizers.Tokenizer, Description]:
    """Raises TokenizerError for a kind of vocabulary that is not known."""
    vocabulary = Vocabulary.read(path, metadata)
    model = vocabulary.keys.get("model")
    if model not in BUILDERS:
        known = ", ".join(BUILDERS)
        raise TokenizerError(
            path, f'tokenizer.ggml.model is "{model}"', f"known are {known}; use the model's folder instead"
        )
    backend, adds_bos = BUILDERS[model](vocabulary)
    _add_tokens(backend, vocabulary)
    _add_template(backend, vocabulary, bool(vocabulary.keys.get("add_bos_token", adds_bos)))
    return backend, _describe(vocabulary, metadata)


def _add_tokens(backend: tokenizers.Tokenizer, vocabulary: Vocabulary) -> None:
    pairs = list(zip(vocabulary.tokens, vocabulary.types, strict=True))
    backend.add_special_tokens([AddedToken(token, normalized=False) for token, kind in pairs if kind == CONTROL])
    backend.add_tokens([AddedToken(token, normalized=False) for token, kind in pairs if kind == USER_DEFINED and token])


def _add_template(backend: tokenizers.Tokenizer, vocabulary: Vocabulary, add_bos: bool) -> None:
    bos, eos = vocabulary.text("bos_token_id"), vocabulary.text("eos_token_id")
    front = [bos] if add_bos and bos else []
    back = [eos] if vocabulary.keys.get("add_eos_token") and eos else []
    if front or back:
        ids = vocabulary.ids()
        backend.post_processor = processors.TemplateProcessing(
            single=[*front, "$A", *back], special_tokens=[(token, ids[token]) for token in {*front, *back}]
        )


def _describe(vocabulary: Vocabulary, metadata: dict[str, Any]) -> Description:
    names = {"bos": "bos", "eos": "eos", "unknown": "unk", "padding": "pad", "seperator": "sep", "mask": "mask"}
    special: dict[str, str | list[str]] = {
        f"{name}_token": text for key, name in names.items() if (text := vocabulary.text(f"{key}_token_id"))
    }
    ends = [vocabulary.text(f"{key}_token_id") for key in ("eos", "eot", "eom")]
    templates = {
        key.removeprefix("tokenizer.chat_template").removeprefix(".") or "default": value
        for key, value in metadata.items()
        if key.startswith("tokenizer.chat_template") and isinstance(value, str)
    }
    return Description(special, tuple(dict.fromkeys(token for token in ends if token)), templates)
