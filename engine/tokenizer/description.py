"""What a checkpoint says about its tokenizer beside the vocabulary: the common form behind folders and GGUF files."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Description:
    special_tokens: dict[str, str | list[str]] = field(default_factory=dict)
    """`bos_token`, `eos_token` ... as chat templates see them."""
    eos_tokens: tuple[str, ...] = ()
    """Tokens that end a reply, `eos_token` first."""
    chat_templates: dict[str, str] = field(default_factory=dict)
    """Jinja texts by name; a single one is called `default`."""
