"""Byte-level BPE from a GGUF file (`tokenizer.ggml.model` = gpt2)."""

import logging
from typing import TYPE_CHECKING

import tokenizers
from tokenizers import decoders, models

from .errors import TokenizerError
from .pre_tokenizers import SPLITS

if TYPE_CHECKING:
    from .gguf_vocabulary import Vocabulary

logger = logging.getLogger("appliance.tokenizer")


def build_byte_level(vocabulary: "Vocabulary") -> tuple[tokenizers.Tokenizer, bool]:
    """(tokenizer without added tokens, whether BOS is added by default)."""
    name = vocabulary.keys.get("pre")
    if name is None:
        logger.warning("%s does not name its pre-tokenizer; default may cut words wrongly", vocabulary.path)
        name = "default"
    if name not in SPLITS:
        raise TokenizerError(
            vocabulary.path,
            f'tokenizer.ggml.pre is "{name}", which is not a known pre-tokenizer',
            f"known are {', '.join(sorted(SPLITS))}; use the model's folder with its tokenizer.json instead",
        )
    merges = vocabulary.keys.get("merges")
    if not isinstance(merges, list):
        raise TokenizerError(vocabulary.path, "the file holds no tokenizer.ggml.merges", "use a complete GGUF file")
    split = SPLITS[name]
    pairs = [tuple(merge.split(" ")) for merge in merges]
    try:
        model = models.BPE(vocab=vocabulary.ids(), merges=pairs, ignore_merges=split.whole_words_first)
    except Exception as error:  # the library raises plain Exception
        raise TokenizerError(
            vocabulary.path, f"the merges do not fit the vocabulary: {error}", "fetch the file again"
        ) from None
    backend = tokenizers.Tokenizer(model)
    backend.pre_tokenizer = split.build()
    backend.decoder = decoders.ByteLevel()
    return backend, split.adds_bos
