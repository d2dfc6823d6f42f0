"""Log-probabilities in the two OpenAI shapes, and vLLM's prompt_logprobs."""

from typing import Any

from appliance.engine.protocol import TokenLogprobs
from appliance.engine.tokenizer import Tokenizer
from appliance.engine.tokenizer.stream import ByteStream


class Speller:
    """How a token is written in an answer: its text, or `token_id:N` where the request asked for ids."""

    def __init__(self, tokenizer: Tokenizer, as_ids: bool = False) -> None:
        self._tokenizer = tokenizer
        self._as_ids = as_ids
        self._knows_bytes = isinstance(tokenizer.stream(), ByteStream)

    def text(self, token_id: int) -> str:
        return f"token_id:{token_id}" if self._as_ids else self._tokenizer.decode([token_id])

    def raw(self, token_id: int) -> list[int]:
        if self._knows_bytes:
            return list(self._tokenizer.token_bytes(token_id))
        return list(self._tokenizer.decode([token_id]).encode())


def chat_logprobs(spell: Speller, entries: list[TokenLogprobs]) -> dict[str, Any]:
    content = []
    for entry in entries:
        top = [
            _chat_token(spell, token_id, logprob) for token_id, logprob in zip(entry.ids, entry.logprobs, strict=True)
        ]
        content.append({**_chat_token(spell, entry.token_id, entry.logprob), "top_logprobs": top})
    return {"content": content}


def _chat_token(spell: Speller, token_id: int, logprob: float) -> dict[str, Any]:
    return {"token": spell.text(token_id), "logprob": finite(logprob), "bytes": spell.raw(token_id)}


class CompletionLogprobs:
    """Knows how much text earlier pieces covered, so that `text_offset` counts through a stream."""

    def __init__(self, spell: Speller) -> None:
        self._spell = spell
        self._offset = 0

    def block(self, entries: list[TokenLogprobs | None], token_ids: list[int]) -> dict[str, Any]:
        """`entries[i]` describes `token_ids[i]`; None for a prompt's first token."""
        tokens, logprobs, tops, offsets = [], [], [], []
        for entry, token_id in zip(entries, token_ids, strict=True):
            text = self._spell.text(token_id)
            tokens.append(text)
            logprobs.append(None if entry is None else finite(entry.logprob))
            tops.append(None if entry is None else self._top(entry))
            offsets.append(self._offset)
            self._offset += len(text)
        return {
            "tokens": tokens,
            "token_logprobs": logprobs,
            "top_logprobs": tops,
            "text_offset": offsets,
        }

    def _top(self, entry: TokenLogprobs) -> dict[str, float]:
        pairs = [*zip(entry.ids, entry.logprobs, strict=True), (entry.token_id, entry.logprob)]
        return {self._spell.text(token_id): finite(logprob) for token_id, logprob in pairs}


def prompt_logprobs(spell: Speller, entries: list[TokenLogprobs | None]) -> list[dict[str, Any] | None]:
    """One object per prompt token, token id -> {logprob, rank, decoded_token}; null for the first."""
    return [None if entry is None else _prompt_token(spell, entry) for entry in entries]


def _prompt_token(spell: Speller, entry: TokenLogprobs) -> dict[str, Any]:
    alternatives = zip(entry.ids, entry.logprobs, range(1, len(entry.ids) + 1), strict=True)
    ranked = [
        (entry.token_id, entry.logprob, entry.rank),
        *(item for item in alternatives if item[0] != entry.token_id),
    ]
    return {
        str(token_id): {"logprob": finite(logprob), "rank": rank, "decoded_token": spell.text(token_id)}
        for token_id, logprob, rank in ranked
    }


def finite(logprob: float) -> float:
    """JSON has no infinity: -9999.0 stands for probability zero, as OpenAI writes it."""
    return logprob if logprob > -9999.0 else -9999.0
