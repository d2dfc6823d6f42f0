"""What adapters add to one product of the model."""

import torch
import torch.nn.functional as F  # noqa: N812

from appliance.engine.layers.linear import Linear, Part, best_product
from appliance.engine.lora.files import LowRank
from appliance.engine.lora.step import Group, StepRows
from appliance.engine.lora.stored import RANK_STEP


class Delta:
    """One adapter's change of one packed product: all its downward matrices at once, then each part's upward one."""

    def __init__(self, changes: list[tuple[Part, LowRank]], dtype: torch.dtype) -> None:
        down = torch.cat([_even(change.down, 0).to(dtype) for _, change in changes])
        self.nbytes = down.nbytes
        self.down, self.down_product = best_product(down)
        self.ups = []
        first = 0
        for part, change in changes:
            even = _even(change.up.float() * change.scale, 1).to(dtype)
            self.nbytes += even.nbytes
            up, product = best_product(even)
            last = first + even.shape[1]
            self.ups.append((slice(first, last), part.start, part.rows, up, product))
            first = last

    def add(self, inputs: torch.Tensor, outputs: torch.Tensor, group: Group) -> None:
        """inputs [T, in], outputs [T, out]: the group's rows of `outputs` change in place."""
        low = self.down_product(group.take(inputs), self.down, None)
        for ranks, start, width, up, product in self.ups:
            change = product(low[:, ranks].contiguous(), up, None)
            group.add(outputs.narrow(1, start, width), change)


class Deltas:
    """What a Linear calls after its own product while any resident adapter changes it."""

    def __init__(self, step: StepRows, sees_wanted_rows: bool) -> None:
        self.by_key: dict[int, Delta] = {}
        self._step = step
        self._sees_wanted_rows = sees_wanted_rows

    def __call__(self, inputs: torch.Tensor, outputs: torch.Tensor) -> None:
        for group in self._step.wanted if self._sees_wanted_rows else self._step.all:
            delta = self.by_key.get(group.key)
            if delta is not None:
                delta.add(inputs, outputs, group)


def _even(matrix: torch.Tensor, dimension: int) -> torch.Tensor:
    """Zeros until its rank is a multiple of what the compiled products take, which change nothing."""
    missing = -matrix.shape[dimension] % RANK_STEP
    return F.pad(matrix, (0, missing) if dimension == 1 else (0, 0, 0, missing))


def attach(linear: Linear, key: int, delta: Delta, step: StepRows, sees_wanted_rows: bool) -> None:
    if linear.change is None:
        linear.change = Deltas(step, sees_wanted_rows)
    assert isinstance(linear.change, Deltas)
    linear.change.by_key[key] = delta


def detach(linear: Linear, key: int) -> None:
    """Adapters that leave `linear` alone are fine."""
    if isinstance(linear.change, Deltas):
        linear.change.by_key.pop(key, None)
        if not linear.change.by_key:
            linear.change = None
