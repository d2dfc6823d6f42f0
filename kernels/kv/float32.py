"""KV cache in float32."""

from .plain import PlainFormat

FORMAT = PlainFormat("float32", 4)
