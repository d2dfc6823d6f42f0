"""Unquantised formats: K and V as they are, one floating-point element after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class PlainFormat:
    """`name` is also the name of the torch dtype."""

    name: str
    element_bytes: int
    platforms: frozenset[str] = frozenset({"cpu", "cuda", "rocm", "xpu"})

    def content_bytes(self, head_dim: int) -> int:
        return 2 * head_dim * self.element_bytes

    def problem(self, head_dim: int, block_tokens: int) -> str | None:
        return None

    def encode(self, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        import torch

        return torch.cat((key, value), dim=-1).to(self._dtype()).view(torch.uint8)

    def decode(self, content: torch.Tensor, head_dim: int, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
        elements = content.view(self._dtype()).to(dtype)
        return elements[..., :head_dim], elements[..., head_dim:]

    def _dtype(self) -> torch.dtype:
        import torch

        found: torch.dtype = getattr(torch, self.name)
        return found
