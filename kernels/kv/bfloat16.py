"""KV cache in bfloat16."""

from .plain import PlainFormat

FORMAT = PlainFormat("bfloat16", 2)
