"""Incremental detokenisation: pieces never end inside a character, and joined they equal one decode of all ids.

Byte-level vocabularies know each token's bytes, so a UTF-8 decoder does the holding back. Every other decoder may treat
the first token differently (a leading space), so it decodes again with the last shown token in front; a run of
byte-fallback tokens is held until it ends, because one bad byte turns the whole run into U+FFFD.
"""

import codecs
import json
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import tokenizers
from tokenizers import decoders

if TYPE_CHECKING:
    from .tokenizer import Tokenizer

BYTE_TOKEN = re.compile(r"<0x[0-9A-Fa-f]{2}>")


def byte_alphabet() -> dict[str, int]:
    """Byte-level BPE's one printable character per byte."""
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + i): byte for i, byte in enumerate(others)}


ALPHABET = byte_alphabet()


class TextStream(Protocol):
    def push(self, ids: Iterable[int]) -> str:
        """The text that became certain with these ids, possibly empty."""

    def finish(self) -> str:
        """What was held back, with U+FFFD for unfinished characters."""


class ByteStream:
    def __init__(self, tokenizer: "Tokenizer", skip_special: bool) -> None:
        self._tokenizer = tokenizer
        self._skip = tokenizer.special_ids if skip_special else frozenset()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    @staticmethod
    def spell(token: str) -> bytes:
        try:
            return bytes(ALPHABET[character] for character in token)
        except KeyError:
            return token.encode()

    def push(self, ids: Iterable[int]) -> str:
        token_bytes, skip = self._tokenizer.token_bytes, self._skip
        return self._decoder.decode(b"".join(token_bytes(i) for i in ids if i not in skip))

    def finish(self) -> str:
        return self._decoder.decode(b"", final=True)


class WindowStream:
    def __init__(
        self, tokenizer: "Tokenizer", skip_special: bool, byte_fallback: bool, prompt_ids: Sequence[int]
    ) -> None:
        self._backend = tokenizer.backend
        self._skip = tokenizer.special_ids if skip_special else frozenset()
        self._byte_fallback = byte_fallback
        self._held: list[int] = []
        self._last: list[int] = next(([i] for i in reversed(prompt_ids) if self._kept(i) and not self._is_byte(i)), [])

    def _kept(self, token_id: int) -> bool:
        return token_id not in self._skip and self._backend.id_to_token(token_id) is not None

    def _is_byte(self, token_id: int) -> bool:
        return self._byte_fallback and BYTE_TOKEN.fullmatch(self._backend.id_to_token(token_id) or "") is not None

    def push(self, ids: Iterable[int]) -> str:
        self._held += filter(self._kept, ids)
        if not self._held or self._is_byte(self._held[-1]):
            return ""
        return self.finish()

    def finish(self) -> str:
        before = self._backend.decode(self._last, skip_special_tokens=False) if self._last else ""
        text = self._backend.decode(self._last + self._held, skip_special_tokens=False)[len(before) :]
        self._last, self._held = self._held[-1:] or self._last, []
        return text


def decoder_kind(backend: tokenizers.Tokenizer) -> tuple[bool, bool]:
    """(is plain byte-level, falls back to byte tokens)."""
    decoder = backend.decoder
    if isinstance(decoder, decoders.ByteLevel):
        return True, False
    return False, decoder is not None and "ByteFallback" in _types(json.loads(decoder.__getstate__()))


def _types(state: dict[str, Any]) -> set[str]:
    return {str(state.get("type"))}.union(*(_types(part) for part in state.get("decoders", [])))
