"""Scheduled requests to the tensors of one step."""

import numpy as np
import torch

from appliance.engine.core.types import ScheduledRequest
from appliance.engine.layers.linear import padded_rows
from appliance.engine.runner.batch import Batch
from appliance.engine.runner.slots import Slot


def build_batch(
    scheduled: list[ScheduledRequest], slots: dict[int, Slot], block_tokens: int, dtype: torch.dtype
) -> Batch:
    """`scheduled` in order, decodes first. `dtype` of the model, whose products may want some more rows."""
    input_ids: list[int] = []
    positions: list[np.ndarray] = []
    slot_mapping: list[np.ndarray] = []
    query_starts = [0]
    context_lengths: list[int] = []
    block_tables: list[list[int]] = []
    sample_rows: list[int] = []
    read_slots: list[np.ndarray] = []
    written_slots: list[np.ndarray] = []
    num_decodes = 0
    for request in scheduled:
        slot = slots[request.slot]
        first, end = request.num_computed, request.num_computed + request.num_tokens
        input_ids.extend(slot.token_ids[first:end])
        span = np.arange(first, end)
        positions.append(span)
        blocks = np.array(request.block_table[first // block_tokens :])
        slot_mapping.append(blocks[span // block_tokens - first // block_tokens] * block_tokens + span % block_tokens)
        query_starts.append(query_starts[-1] + request.num_tokens)
        context_lengths.append(end)
        block_tables.append(request.block_table[: -(-end // block_tokens)])
        if request.num_tokens == 1 and num_decodes == len(context_lengths) - 1:
            num_decodes += 1
        sample_rows.extend(wanted_rows(request, slot, query_starts[-2]))
        if request.copy_from >= 0:
            offsets = np.arange(first % block_tokens)
            read_slots.append(request.copy_from * block_tokens + offsets)
            written_slots.append(blocks[0] * block_tokens + offsets)
    missing = padded_rows(dtype, len(input_ids)) - len(input_ids)
    if missing:
        input_ids += input_ids[-1:] * missing
        positions.append(positions[-1][-1:].repeat(missing))
        slot_mapping.append(slot_mapping[-1][-1:].repeat(missing))
    return Batch(
        input_ids=torch.tensor(input_ids),
        positions=_joined(positions),
        slot_mapping=_joined(slot_mapping),
        query_starts=query_starts,
        context_lengths=context_lengths,
        block_tables=block_tables,
        num_decodes=num_decodes,
        sample_rows=torch.tensor(sample_rows, dtype=torch.int64),
        copies=(_joined(read_slots), _joined(written_slots)) if read_slots else None,
    )


def _joined(parts: list[np.ndarray]) -> torch.Tensor:
    return torch.from_numpy(np.concatenate(parts))


def wanted_rows(request: ScheduledRequest, slot: Slot, offset: int) -> list[int]:
    """Rows of the step whose logits this share needs; `offset` is its first row."""
    end = offset + request.num_tokens
    first = end - 1 if request.samples else end
    if slot.sampling.prompt_logprobs is not None and request.num_computed < slot.prompt_length:
        first = offset
    return list(range(first, end))
