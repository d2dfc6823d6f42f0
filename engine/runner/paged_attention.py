"""Attention over the paged cache in plain PyTorch, for every KV format: decodes in padded groups, prefills one by one.

A decoding row sees its cache through one gather of its group; grouped-query heads are folded into the query rows, so
keys are never repeated. Masks and index tensors are made once per step and window, then shared by all layers.

Every call passes a mask, a number of keys that is a multiple of KEY_MULTIPLE and at least MIN_QUERIES queries: without
them torch rounds differently, and a token's result would depend on its neighbours, or on where a chunk ended.
"""

import math
from dataclasses import dataclass

import torch
from torch.nn.functional import pad, scaled_dot_product_attention

from appliance.engine.runner.batch import Batch
from appliance.engine.runner.decode_groups import decode_groups
from appliance.engine.runner.kv_pool import KVPool

# bfloat16 products of torch treat the keys beyond a multiple of this in another order.
KEY_MULTIPLE = 32
# Its kernels for fewer rows round in another order, too.
MIN_QUERIES = 4


@dataclass(frozen=True)
class _Decode:
    rows: torch.Tensor | None
    """int64 [S] rows of the batch, or None where the group is the whole run of decodes in order."""
    blocks: torch.Tensor
    mask: torch.Tensor
    """[S, 1, 1, L] added to the scores."""
    hidden: torch.Tensor
    """int64: the masked positions of the S * L gathered ones."""


@dataclass(frozen=True)
class _Prefill:
    start: int
    stop: int
    blocks: torch.Tensor
    """int64 [1, B]"""
    mask: torch.Tensor
    """[queries, L] added to the scores."""
    hidden: torch.Tensor
    """int64: the gathered positions beyond the context."""


class PagedAttention:
    """An AttentionContext for one step."""

    def __init__(self, pool: KVPool, batch: Batch, dtype: torch.dtype) -> None:
        self._pool = pool
        self._batch = batch
        self._dtype = dtype
        self._multiple = math.lcm(KEY_MULTIPLE, pool.block_tokens) // pool.block_tokens
        self._plans: dict[int | None, tuple[list[_Decode], list[_Prefill]]] = {}

    def attend(
        self,
        layer: int,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        *,
        scale: float,
        window: int | None = None,
        softcap: float | None = None,
    ) -> torch.Tensor:
        self._pool.store(layer, self._batch.slot_mapping, key, value)
        if window not in self._plans:
            self._plans[window] = self._plan_decodes(window), self._plan_prefills(window)
        decodes, prefills = self._plans[window]
        output = torch.empty_like(query)
        for group in decodes:
            self._decode(layer, group, query, output, scale, softcap)
        for chunk in prefills:
            self._prefill(layer, chunk, query, output, scale, softcap)
        tokens = self._batch.query_starts[-1]
        if tokens < len(output):
            output[tokens:] = output[tokens - 1]
        return output

    def _decode(
        self, layer: int, group: _Decode, query: torch.Tensor, output: torch.Tensor, scale: float, softcap: float | None
    ) -> None:
        count = len(group.blocks)
        rows = query[:count] if group.rows is None else query[group.rows]
        keys, values = self._pool.gather(layer, group.blocks, self._dtype, group.hidden)
        grouped = rows.unflatten(1, (keys.shape[1], -1))
        attended = _attention(grouped, keys, values, group.mask, scale, softcap).reshape(rows.shape)
        if group.rows is None:
            output[:count] = attended
        else:
            output[group.rows] = attended

    def _prefill(
        self,
        layer: int,
        chunk: _Prefill,
        query: torch.Tensor,
        output: torch.Tensor,
        scale: float,
        softcap: float | None,
    ) -> None:
        span = slice(chunk.start, chunk.stop)
        rows = query[span].transpose(0, 1).unsqueeze(0)
        keys, values = self._pool.gather(layer, chunk.blocks, self._dtype, chunk.hidden)
        attended = _attention(rows, keys, values, chunk.mask, scale, softcap)
        output[span] = attended[0].transpose(0, 1)

    def _plan_decodes(self, window: int | None) -> list[_Decode]:
        batch, count = self._batch, self._batch.num_decodes
        if count == 0:
            return []
        groups = decode_groups(
            batch.context_lengths[:count], batch.block_tables[:count], self._pool.block_tokens, window, self._multiple
        )
        plans = []
        for group in groups:
            blocks = torch.tensor(group.blocks)
            positions = torch.arange(blocks.shape[1] * self._pool.block_tokens)
            first, end = torch.tensor(group.first).unsqueeze(1), torch.tensor(group.end).unsqueeze(1)
            hidden = (positions < first) | (positions >= end)
            mask = torch.zeros(hidden.shape, dtype=self._dtype).masked_fill_(hidden, -torch.inf)[:, None, None]
            rows = None if group.rows == list(range(count)) else torch.tensor(group.rows)
            plans.append(_Decode(rows, blocks, mask, hidden.flatten().nonzero().squeeze(1)))
        return plans

    def _plan_prefills(self, window: int | None) -> list[_Prefill]:
        batch = self._batch
        plans = []
        for row in range(batch.num_decodes, len(batch.context_lengths)):
            start, stop, context = batch.query_starts[row], batch.query_starts[row + 1], batch.context_lengths[row]
            table = batch.block_tables[row]
            blocks = torch.tensor([table + [0] * (-len(table) % self._multiple)])
            keys = blocks.shape[1] * self._pool.block_tokens
            mask = self._causal_mask(stop - start, context, keys, window)
            plans.append(_Prefill(start, stop, blocks, mask, torch.arange(context, keys)))
        return plans

    def _causal_mask(self, queries: int, context: int, keys: int, window: int | None) -> torch.Tensor:
        """[queries, keys] for the last positions of a context: each sees itself and those before, `window` in all."""
        positions = torch.arange(keys)
        own = positions[context - queries : context].unsqueeze(1)
        hidden = positions > own
        if window is not None:
            hidden |= positions <= own - window
        return torch.zeros(hidden.shape, dtype=self._dtype).masked_fill_(hidden, -torch.inf)


def _attention(
    query: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    mask: torch.Tensor,
    scale: float,
    softcap: float | None,
) -> torch.Tensor:
    """softmax(cap(q k^T scale) + mask) v; query [S, heads, queries, head_dim], keys and values with their own heads."""
    grouped = query.shape[1] != keys.shape[1]
    if softcap is None:
        count = query.shape[2]
        if count < MIN_QUERIES:
            query = pad(query, (0, 0, 0, MIN_QUERIES - count))
            if mask.shape[-2] > 1:
                mask = pad(mask, (0, 0, 0, MIN_QUERIES - count))
        attended = scaled_dot_product_attention(query, keys, values, attn_mask=mask, scale=scale, enable_gqa=grouped)
        return attended[:, :, :count]
    if grouped:
        repeats = query.shape[1] // keys.shape[1]
        keys, values = keys.repeat_interleave(repeats, 1), values.repeat_interleave(repeats, 1)
    scores = torch.matmul(query, keys.transpose(-1, -2)).float().mul_(scale / softcap).tanh_().mul_(softcap)
    return torch.matmul((scores + mask).softmax(-1).to(query.dtype), values)
