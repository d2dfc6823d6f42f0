"""SentencePiece BPE from a GGUF file (`tokenizer.ggml.model` = llama): merges rebuilt from the pieces' scores."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import tokenizers
from tokenizers import decoders, models, normalizers

from .errors import TokenizerError

if TYPE_CHECKING:
    from .gguf_vocabulary import Vocabulary

NORMAL, UNKNOWN, UNUSED = 1, 2, 5
SPACE = "▁"


def build_sentencepiece(vocabulary: "Vocabulary") -> tuple[tokenizers.Tokenizer, bool]:
    """(tokenizer without added tokens, whether BOS is added by default)."""
    scores = vocabulary.keys.get("scores")
    if not isinstance(scores, list) or len(scores) != len(vocabulary.tokens):
        raise TokenizerError(vocabulary.path, "tokenizer.ggml.scores does not fit the tokens", "fetch the file again")
    kinds = vocabulary.types
    unknown = next((token for token, kind in zip(vocabulary.tokens, kinds, strict=True) if kind == UNKNOWN), None)
    pieces = {
        token: score
        for token, score, kind in zip(vocabulary.tokens, scores, kinds, strict=True)
        if kind in (NORMAL, UNUSED)
    }
    ids = vocabulary.ids()
    ranked = sorted(_pairs(pieces), key=lambda pair: (-pieces[pair[0] + pair[1]], ids[pair[0] + pair[1]]))
    model = models.BPE(vocab=ids, merges=ranked, unk_token=unknown, fuse_unk=True, byte_fallback=True)
    backend = tokenizers.Tokenizer(model)
    prefix = bool(vocabulary.keys.get("add_space_prefix", True))
    spaces = normalizers.Replace(" ", SPACE)
    backend.normalizer = normalizers.Sequence([normalizers.Prepend(SPACE), spaces]) if prefix else spaces
    strip = [decoders.Strip(" ", 1, 0)] if prefix else []
    parts = [decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse(), *strip]
    backend.decoder = decoders.Sequence(parts)
    return backend, True


def _pairs(pieces: dict[str, float]) -> Iterator[tuple[str, str]]:
    """Every way to put one piece together from two others."""
    for piece in pieces:
        for cut in range(1, len(piece)):
            left, right = piece[:cut], piece[cut:]
            if left in pieces and right in pieces:
                yield left, right
