"""Empty weights by name, and the one pass that fills them. Knows nothing of files."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import torch

from .ops import EagerOps, Ops

if TYPE_CHECKING:
    from .linear import Part

NAMED_AT_MOST = 4


@dataclass(frozen=True)
class Slot:
    """Where one named tensor goes: perhaps a window of a packed tensor, perhaps repeated along a leading dimension."""

    destination: torch.Tensor
    shape: tuple[int, ...]
    offset: float = 0.0


@dataclass(frozen=True)
class Parameters:
    """All weights of one model, seen from the module at `prefix`. Weights are uninitialised memory until `fill`."""

    dtype: torch.dtype
    prefix: str = ""
    slots: dict[str, Slot] = field(default_factory=dict)
    waiting: list[Callable[[], None]] = field(default_factory=list)
    ops: Ops = field(default_factory=EagerOps)
    """How the layers under here compute between their products."""
    parts: dict[str, Part] = field(default_factory=dict)
    """Every matrix product of the layers, by the module it is in the checkpoint: what adapters can change."""

    def under(self, name: str) -> Parameters:
        return replace(self, prefix=f"{self.prefix}{name}.")

    def when_filled(self, action: Callable[[], None]) -> None:
        """Called once, after `fill`; it may replace tensors by other layouts of them."""
        self.waiting.append(action)

    def empty(self, name: str, *shape: int, dtype: torch.dtype | None = None, offset: float = 0.0) -> torch.Tensor:
        """One tensor; `offset` is added to what the checkpoint holds."""
        tensor = torch.empty(shape, dtype=dtype or self.dtype)
        self._add(name, Slot(tensor, shape, offset))
        return tensor

    def packed(self, rows: dict[str, int], *columns: int) -> torch.Tensor:
        """Several tensors [rows of each, *columns] as one, in the order given."""
        tensor = torch.empty(sum(rows.values()), *columns, dtype=self.dtype)
        for (name, count), window in zip(rows.items(), tensor.split(list(rows.values())), strict=True):
            self._add(name, Slot(window, (count, *columns)))
        return tensor

    def repeated(
        self, times: dict[str, int], width: int, dtype: torch.dtype | None = None, offset: float = 0.0
    ) -> torch.Tensor:
        """Several vectors [width], each repeated that often, as one tensor [sum of times, width]."""
        tensor = torch.empty(sum(times.values()), width, dtype=dtype or self.dtype)
        for name, window in zip(times, tensor.split(list(times.values())), strict=True):
            self._add(name, Slot(window, (width,), offset))
        return tensor

    def fill(self, weights: Iterable[tuple[str, torch.Tensor]], ignored: frozenset[str] = frozenset()) -> None:
        """Copies every named tensor into its place; ValueError on a missing, unknown, repeated or misshapen tensor."""
        assert self.slots, "filled twice"
        absent = dict(self.slots)
        problems: dict[str, list[str]] = {}
        for name, tensor in weights:
            slot = absent.pop(name, None)
            if slot is None:
                if name in self.slots:
                    problems.setdefault("repeated", []).append(name)
                elif name not in ignored and not name.endswith("rotary_emb.inv_freq"):
                    problems.setdefault("unknown", []).append(name)
            elif tuple(tensor.shape) != slot.shape:
                shape = f"{name} is {list(tensor.shape)}, the configuration says {list(slot.shape)}"
                problems.setdefault("misshapen", []).append(shape)
            else:
                slot.destination.copy_(tensor)
                if slot.offset:
                    slot.destination.add_(slot.offset)
        if absent:
            problems["missing"] = list(absent)
        if problems:
            raise ValueError("; ".join(f"{kind} tensors: {_few(names)}" for kind, names in problems.items()))
        self.slots.clear()
        while self.waiting:
            self.waiting.pop()()

    def _add(self, name: str, slot: Slot) -> None:
        full = self.prefix + name
        assert full not in self.slots, full
        self.slots[full] = slot


def _few(names: list[str]) -> str:
    more = len(names) - NAMED_AT_MOST
    return ", ".join(names[:NAMED_AT_MOST]) + (f" and {more} more" if more > 0 else "")
