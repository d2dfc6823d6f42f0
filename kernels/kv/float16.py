"""KV cache in float16."""

from .plain import PlainFormat

FORMAT = PlainFormat("float16", 2)
