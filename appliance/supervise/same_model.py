"""Do two checkpoints turn text into the same tokens?"""

import hashlib
from pathlib import Path

FILES = ("tokenizer.json", "tokenizer.model", "vocab.json", "merges.txt", "tokenizer_config.json")
"""What a folder's tokenizer is read from."""


def same_tokenizer(one: Path, other: Path) -> bool:
    """Two different .gguf files count as different: their tokenizers lie between their weights."""
    if one == other:
        return True
    return one.is_dir() and other.is_dir() and _digests(one) == _digests(other)


def _digests(folder: Path) -> dict[str, str]:
    return {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in FILES if (folder / name).is_file()
    }
