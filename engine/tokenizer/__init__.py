"""Text to token ids and back, messages to a prompt. Knows tokenizer files and GGUF vocabularies, no torch."""

from .chat import ChatTemplate
from .errors import ChatError, ChatTimeoutError, TextError, TokenizerError
from .load import load
from .stream import TextStream
from .tokenizer import Tokenizer

__all__ = [
    "ChatError",
    "ChatTemplate",
    "ChatTimeoutError",
    "TextError",
    "TextStream",
    "Tokenizer",
    "TokenizerError",
    "load",
]
