"""Changes to one row of logits before a token is chosen: bias, penalties, tokens that may not come yet."""

import torch

from appliance.engine.runner.slots import Slot


def needs_adjusting(slot: Slot) -> bool:
    return bool(slot.sampling.logit_bias) or slot.counts_output or slot.generated < slot.sampling.min_tokens


def adjust(logits: torch.Tensor, slot: Slot, eos_token_ids: tuple[int, ...]) -> None:
    """float32 [V], in place. Order and formulas as in vLLM: bans and bias, then penalties.

    repetition: positive logits divided by, negative ones multiplied with the penalty, over prompt and output tokens;
    frequency: minus penalty times occurrences, presence: minus penalty once, both over output tokens.
    """
    sampling = slot.sampling
    if sampling.logit_bias:
        biased = torch.tensor(list(sampling.logit_bias))
        logits[biased] += torch.tensor(list(sampling.logit_bias.values()))
    if slot.generated < sampling.min_tokens:
        banned = [*eos_token_ids, *sampling.stop_token_ids]
        logits[torch.tensor(banned, dtype=torch.int64)] = -torch.inf
    if not slot.counts_output:
        return
    output = torch.tensor(list(slot.output_counts), dtype=torch.int64)
    if sampling.repetition_penalty != 1.0:
        seen = torch.tensor(list({*slot.prompt_set, *slot.output_counts}), dtype=torch.int64)
        scores = logits[seen]
        penalty = sampling.repetition_penalty
        logits[seen] = torch.where(scores > 0, scores / penalty, scores * penalty)
    if len(output):
        counts = torch.tensor(list(slot.output_counts.values()), dtype=torch.float32)
        logits[output] -= sampling.frequency_penalty * counts + sampling.presence_penalty
