"""Known failures of tokenizers and chat templates."""

from dataclasses import dataclass


@dataclass
class TokenizerError(Exception):
    """The files are unfit: shown to the operator as one line. `fact` names the seen value, `fix` is the way out."""

    path: str
    fact: str
    fix: str = ""

    def __str__(self) -> str:
        return f"{self.path}: {self.fact}" + (f"; {self.fix}" if self.fix else "")


class TextError(ValueError):
    """A request's text cannot be tokenised; the message is fit for the client (400)."""


class ChatError(ValueError):
    """A request's messages do not fit the chat template; the message is fit for the client (400)."""


class ChatTimeoutError(ChatError):
    """Rendering took longer than the limit and was stopped."""
