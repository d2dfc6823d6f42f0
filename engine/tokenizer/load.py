"""One door for every checkpoint form."""

from collections.abc import Callable
from pathlib import Path

import tokenizers

from .chat import ChatTemplate
from .description import Description
from .errors import TokenizerError
from .folder import load_folder
from .gguf_cache import load_gguf
from .tokenizer import Tokenizer

LOADERS: dict[str, Callable[[Path], tuple[tokenizers.Tokenizer, Description]]] = {
    "folder": load_folder,
    "gguf": load_gguf,
}


def load(model_path: str | Path, chat_template: str | Path | None = None) -> Tokenizer:
    """Tokenizer of a folder or a .gguf file; `chat_template` is a Jinja file that replaces the checkpoint's.

    Raises TokenizerError, also for a chat template that does not compile.
    """
    path = Path(model_path)
    if not path.exists():
        raise TokenizerError(str(path), "there is no such model folder or file")
    backend, description = LOADERS["folder" if path.is_dir() else "gguf"](path)
    if chat_template is None:
        templates = {name: ChatTemplate(text, str(path)) for name, text in description.chat_templates.items()}
    else:
        templates = {"default": ChatTemplate(_read(Path(chat_template)), str(chat_template))}
    return Tokenizer(backend, description, templates)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TokenizerError(str(path), f"the chat template cannot be read: {error}") from None
