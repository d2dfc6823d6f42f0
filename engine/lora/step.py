"""Which rows of a step belong to which adapter."""

from dataclasses import dataclass

import numpy as np
import torch

from appliance.engine.layers.linear import padded_rows


@dataclass(frozen=True)
class Group:
    """The rows of one adapter."""

    key: int
    rows: torch.Tensor
    """int64, as many as products want: the last one is repeated."""
    count: int
    """Of different rows."""
    span: slice | None
    """Those rows, where they lie side by side."""

    def take(self, inputs: torch.Tensor) -> torch.Tensor:
        """[T, width] -> [len(rows), width]"""
        return inputs[self.span] if self.span and len(self.rows) == self.count else inputs.index_select(0, self.rows)

    def add(self, outputs: torch.Tensor, change: torch.Tensor) -> None:
        """The first `count` rows of `change` to these rows of `outputs`, in place."""
        own = change[: self.count]
        if self.span:
            outputs[self.span].add_(own)
        else:  # index_add_ wakes every thread for a handful of numbers
            rows = self.rows[: self.count]
            outputs.index_copy_(0, rows, outputs.index_select(0, rows).add_(own))


class StepRows:
    """Set by the runner before a forward pass, read by every changed product in it. Key 0 is the base model."""

    def __init__(self, dtype: torch.dtype) -> None:
        self._dtype = dtype
        self.all: list[Group] = []
        self.wanted: list[Group] = []
        """In the products that see only the rows whose results are wanted."""

    def begin(self, keys: list[int], starts: list[int], tokens: int, wanted: torch.Tensor | None) -> None:
        """Share s of the step has adapter keys[s] and rows [starts[s], starts[s + 1]) of `tokens`; rows behind the
        last share repeat it. `wanted`: int64 [R]; None = all rows, in order.
        """
        if not any(keys):
            self.all = self.wanted = []
            return
        owners = torch.from_numpy(np.repeat(keys, np.diff([*starts[:-1], tokens])))
        self.all = self._groups(owners, keys)
        self.wanted = self.all if wanted is None else self._groups(owners[wanted], keys)

    def _groups(self, owners: torch.Tensor, keys: list[int]) -> list[Group]:
        groups = []
        for key in sorted({*keys} - {0}):
            rows = (owners == key).nonzero().squeeze(1)
            count = len(rows)
            if count:
                missing = padded_rows(self._dtype, count) - count
                first, last = int(rows[0]), int(rows[-1])
                span = slice(first, last + 1) if last - first + 1 == count else None
                groups.append(Group(key, torch.cat((rows, rows[-1:].expand(missing))), count, span))
        return groups
