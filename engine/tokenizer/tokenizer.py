"""The tokenizer that server and decisions share. Immutable and safe to use from several threads."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import tokenizers

from .chat import ChatTemplate
from .description import Description
from .errors import ChatError, TextError
from .stream import ByteStream, TextStream, WindowStream, decoder_kind

SURROGATE = "the text holds half of a surrogate pair, which is not a character"


class Tokenizer:
    """Backend of the `tokenizers` library plus what a checkpoint says about special tokens and chats."""

    def __init__(
        self, backend: tokenizers.Tokenizer, description: Description, chat_templates: dict[str, ChatTemplate]
    ) -> None:
        self.backend = backend
        self.special_tokens = description.special_tokens
        self.chat_templates = chat_templates
        ids = [backend.token_to_id(token) for token in description.eos_tokens]
        self.eos_ids: tuple[int, ...] = tuple(dict.fromkeys(i for i in ids if i is not None))
        """Ids that end a reply, the tokenizer's own first."""
        added = backend.get_added_tokens_decoder()
        self.added_ids = frozenset(added)
        self.special_ids = frozenset(i for i, token in added.items() if token.special)
        self._byte_level, self._byte_fallback = decoder_kind(backend)
        self._token_bytes: dict[int, bytes] = {}

    @cached_property
    def vocab_size(self) -> int:
        """Highest id + 1; a model's own vocabulary may be padded beyond it."""
        return max(self.backend.get_vocab(with_added_tokens=True).values(), default=-1) + 1

    def token(self, token_id: int) -> str | None:
        """The vocabulary's spelling of an id (bytes in the byte alphabet), None outside the vocabulary."""
        return self.backend.id_to_token(token_id)

    def token_id(self, token: str) -> int | None:
        return self.backend.token_to_id(token)

    def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
        """`add_special_tokens` lets the tokenizer's own template put BOS and EOS around; raises TextError."""
        try:
            return list(self.backend.encode(text, add_special_tokens=add_special_tokens).ids)
        except (UnicodeEncodeError, TypeError) as error:
            raise TextError(SURROGATE) from error

    def fewest_tokens(self, text: str) -> int:
        """A lower bound of `len(encode(text))` that costs nothing, to refuse what can never fit; 0 = not known."""
        return len(text) // self._longest if self._longest else 0

    @cached_property
    def _longest(self) -> int:
        """Characters the longest token can stand for; 0 where normalising or an added token may swallow any number."""
        swallows = any(token.lstrip or token.rstrip for token in self.backend.get_added_tokens_decoder().values())
        if not self._byte_level or self.backend.normalizer is not None or swallows:
            return 0
        return max(map(len, self.backend.get_vocab(with_added_tokens=True)), default=0)

    def encode_many(self, texts: Sequence[str], add_special_tokens: bool = True) -> list[list[int]]:
        """Like `encode`, on all cores."""
        try:
            found = self.backend.encode_batch_fast(list(texts), add_special_tokens=add_special_tokens)
        except (UnicodeEncodeError, TypeError) as error:
            raise TextError(SURROGATE) from error
        return [list(encoding.ids) for encoding in found]

    def decode(self, ids: Sequence[int], skip_special: bool = False) -> str:
        """Bytes that are no UTF-8 become U+FFFD; ids outside the vocabulary give nothing."""
        return self.backend.decode(list(ids), skip_special_tokens=skip_special)

    def stream(self, skip_special: bool = True, prompt_ids: Sequence[int] = ()) -> TextStream:
        """Text of a reply piece by piece. `prompt_ids` tell how the reply continues (its leading space)."""
        if self._byte_level:
            return ByteStream(self, skip_special)
        return WindowStream(self, skip_special, self._byte_fallback, prompt_ids)

    def token_bytes(self, token_id: int) -> bytes:
        """The bytes a token stands for in the text; byte-level vocabularies only."""
        found = self._token_bytes.get(token_id)
        if found is None:
            found = self._token_bytes[token_id] = ByteStream.spell(self.backend.id_to_token(token_id) or "")
        return found

    @property
    def chat_template(self) -> str | None:
        """The text of the template a chat without tools uses."""
        template = self.chat_templates.get("default")
        return template.text if template else None

    def render_chat(
        self,
        messages: Sequence[dict[str, Any]],
        tools: Sequence[dict[str, Any]] | None = None,
        add_generation_prompt: bool = True,
        continue_final_message: bool = False,
        template_kwargs: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> str:
        """The prompt text of a chat; `kwargs`, and `template_kwargs` from a client, reach the template.

        Raises ChatError (also for a client's variable that would replace the request), ChatTimeoutError.
        Blocks while the template runs (up to its time limit): keep it off an event loop when messages are long.
        """
        template = self.chat_templates.get("tool_use") if tools else None
        template = template or self.chat_templates.get("default")
        if template is None:
            named = f" named default (it has: {', '.join(sorted(self.chat_templates))})" if self.chat_templates else ""
            raise ChatError(
                f"this model has no chat template{named}, so it cannot take messages; "
                "use /v1/completions, or give the server a template with model.chat_template"
            )
        return template.render(
            messages,
            tools,
            add_generation_prompt,
            continue_final_message,
            {**self.special_tokens, **kwargs, **(template_kwargs or {})},
        )
