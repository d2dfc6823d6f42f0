"""The table of KV formats. Facts load without torch; the tensor half of a format loads when a pool is made."""

from importlib import import_module

from .base import KVFormat

# name in a profile -> module beside this file that defines FORMAT
FORMATS: dict[str, str] = {"float32": "float32", "float16": "float16", "bfloat16": "bfloat16"}


def kv_format(name: str) -> KVFormat:
    """The format called `name`; KeyError lists what exists."""
    if name not in FORMATS:
        raise KeyError(f"{name!r} is not a KV format of this release; known: {', '.join(FORMATS)}")
    loaded: KVFormat = import_module(f".{FORMATS[name]}", __package__).FORMAT
    return loaded
