"""What a KV format is: facts for the planner, and how keys and values become bytes of a pool and back.

The pool of one layer is a uint8 tensor [blocks, block_tokens, kv_heads, content_bytes]; one (token, head) holds K then
V, scales included, so a new format changes content_bytes and the two conversions, nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import torch


class KVFormat(Protocol):
    name: str
    platforms: frozenset[str]
    """Of cpu, cuda, rocm, xpu."""

    def content_bytes(self, head_dim: int) -> int:
        """Bytes of K and V of one token and one KV head."""
        ...

    def problem(self, head_dim: int, block_tokens: int) -> str | None:
        """Why these sizes cannot be held, or None."""
        ...

    def encode(self, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        """[tokens, kv_heads, head_dim] twice -> uint8 [tokens, kv_heads, content_bytes]."""
        ...

    def decode(self, content: torch.Tensor, head_dim: int, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
        """uint8 [..., kv_heads, content_bytes] -> key, value [..., kv_heads, head_dim] in `dtype`."""
        ...
