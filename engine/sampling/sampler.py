"""Rows of logits to one token each, every row by its own request's parameters."""

import torch

from appliance.engine.runner.slots import Slot
from appliance.engine.sampling.adjust import adjust, needs_adjusting
from appliance.engine.sampling.draw import draw, keyed_uniform


def sample(logits: torch.Tensor, slots: list[Slot], eos_token_ids: tuple[int, ...]) -> list[int]:
    """float32 [R, V] with one slot a row -> R token ids. `logits` stays as it is, for log-probabilities."""
    chosen: list[int] = torch.argmax(logits, dim=-1).tolist()
    for row, slot in enumerate(slots):
        adjusting = needs_adjusting(slot)
        if slot.sampling.temperature == 0.0 and not adjusting:
            continue
        own = logits[row]
        if adjusting:
            own = own.clone()
            adjust(own, slot, eos_token_ids)
        if slot.sampling.temperature == 0.0:
            chosen[row] = int(torch.argmax(own))
        else:
            chosen[row] = draw(own, slot.sampling, keyed_uniform(slot.seed, len(slot.token_ids)))
    return chosen
