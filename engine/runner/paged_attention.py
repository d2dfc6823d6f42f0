"""Attention over the paged cache in plain PyTorch, for every KV format: decodes in padded groups, prefills one by one.

A decoding row sees its cache through one gather of its group; grouped-query heads are folded into the query rows, so keys
are never repeated. Masks and index tensors are made once per step and window, then shared by all layers.
"""

from dataclasses import dataclass

import torch
from torch.nn.functional import scaled_dot_product_attention

from appliance.engine.runner.batch import Batch
from appliance.engine.runner.decode_groups import decode_groups
from appliance.engine.runner.kv_pool import KVPool


@dataclass(frozen=True)
class _Decode:
    rows: torch.Tensor | None
    """int64 [S] rows of the batch, or None where the group is the whole run of decodes in order."""
    blocks: torch.Tensor
    mask: torch.Tensor | None
    """[S, 1, 1, L] added to the scores."""
    hidden: torch.Tensor | None
    """int64: the masked positions of the S * L gathered ones."""


@dataclass(frozen=True)
class _Prefill:
    start: int
    stop: int
    blocks: torch.Tensor | None
    """int64 [1, B]; None where the chunk is the whole context and the cache would return it unchanged."""
    context: int
    mask: torch.Tensor | None
    """bool [queries, context], True where visible; None = plain causal square."""


class PagedAttention:
    """An AttentionContext for one step."""

    def __init__(self, pool: KVPool, batch: Batch, dtype: torch.dtype) -> None:
        self._pool = pool
        self._batch = batch
        self._dtype = dtype
        self._exact = pool.format.name == str(dtype).removeprefix("torch.")
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
            self._prefill(layer, chunk, query, key, value, output, scale, softcap)
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
        key: torch.Tensor,
        value: torch.Tensor,
        output: torch.Tensor,
        scale: float,
        softcap: float | None,
    ) -> None:
        span = slice(chunk.start, chunk.stop)
        rows = query[span].transpose(0, 1).unsqueeze(0)
        if chunk.blocks is None:
            keys, values = key[span].transpose(0, 1).unsqueeze(0), value[span].transpose(0, 1).unsqueeze(0)
        else:
            keys, values = self._pool.gather(layer, chunk.blocks, self._dtype)
            keys, values = keys[:, :, : chunk.context], values[:, :, : chunk.context]
        if softcap is not None:
            repeats = rows.shape[1] // keys.shape[1]
            keys, values = keys.repeat_interleave(repeats, 1), values.repeat_interleave(repeats, 1)
            visible = chunk.mask if chunk.mask is not None else _causal_mask(chunk.context, chunk.context, None)
            hidden = torch.zeros(visible.shape, dtype=self._dtype).masked_fill_(~visible, -torch.inf)
            attended = _attention(rows, keys, values, hidden, scale, softcap)
        else:
            attended = scaled_dot_product_attention(
                rows, keys, values, attn_mask=chunk.mask, is_causal=chunk.mask is None, scale=scale, enable_gqa=True
            )
        output[span] = attended[0].transpose(0, 1)

    def _plan_decodes(self, window: int | None) -> list[_Decode]:
        batch, count = self._batch, self._batch.num_decodes
        if count == 0:
            return []
        groups = decode_groups(
            batch.context_lengths[:count], batch.block_tables[:count], self._pool.block_tokens, window
        )
        plans = []
        for group in groups:
            blocks = torch.tensor(group.blocks)
            width = blocks.shape[1] * self._pool.block_tokens
            mask = hidden_positions = None
            if not group.uniform or group.end[0] != width:
                positions = torch.arange(width)
                first, end = torch.tensor(group.first).unsqueeze(1), torch.tensor(group.end).unsqueeze(1)
                hidden = (positions < first) | (positions >= end)
                mask = torch.zeros(hidden.shape, dtype=self._dtype).masked_fill_(hidden, -torch.inf)[:, None, None]
                hidden_positions = hidden.flatten().nonzero().squeeze(1)
            rows = None if group.rows == list(range(count)) else torch.tensor(group.rows)
            plans.append(_Decode(rows, blocks, mask, hidden_positions))
        return plans

    def _plan_prefills(self, window: int | None) -> list[_Prefill]:
        batch = self._batch
        plans = []
        for row in range(batch.num_decodes, len(batch.context_lengths)):
            start, stop, context = batch.query_starts[row], batch.query_starts[row + 1], batch.context_lengths[row]
            queries = stop - start
            whole = queries == context
            windowed = window is not None and context > window
            plans.append(
                _Prefill(
                    start,
                    stop,
                    None if whole and self._exact else torch.tensor([batch.block_tables[row]]),
                    context,
                    None if whole and not windowed else _causal_mask(queries, context, window if windowed else None),
                )
            )
        return plans


def _causal_mask(queries: int, context: int, window: int | None) -> torch.Tensor:
    """bool [queries, context]: the last `queries` positions of a context, each seeing itself and `window - 1` before it."""
    positions = torch.arange(context)
    own = positions[context - queries :].unsqueeze(1)
    visible = positions <= own
    return visible if window is None else visible & (positions > own - window)


def _attention(
    query: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    mask: torch.Tensor | None,
    scale: float,
    softcap: float | None,
) -> torch.Tensor:
    """softmax(cap(q k^T scale) + mask) v over [S, heads, queries, head_dim]; soft capping needs the scores in hand."""
    if softcap is None:
        return scaled_dot_product_attention(query, keys, values, attn_mask=mask, scale=scale)
    scores = torch.matmul(query, keys.transpose(-1, -2)).float().mul_(scale / softcap).tanh_().mul_(softcap)
    if mask is not None:
        scores += mask
    return torch.matmul(scores.softmax(-1).to(query.dtype), values)
