"""Attention over the paged cache in plain PyTorch, for every KV format.

Queries attend in groups of similar shape, each through one gather of the keys it may see. Masks and index tensors are
made once per step and window, then shared by all layers.

Every row attends through a mask to a number of keys that is a multiple of KEY_MULTIPLE, counted from such a multiple,
so that neither its neighbours nor the ends of chunks change the order in which its sums are made.
"""

import math
from dataclasses import dataclass

import torch

from appliance.engine.layers.heads import HeadLayout
from appliance.engine.layers.rotary import Rotation
from appliance.engine.runner.batch import Batch
from appliance.engine.runner.dense_attention import Mask, dense_attention
from appliance.engine.runner.kv_pool import KVPool
from appliance.engine.runner.query_groups import Run, grouped, runs_of

# bfloat16 products of torch treat the keys beyond a multiple of this in another order.
KEY_MULTIPLE = 32


@dataclass(frozen=True)
class _Group:
    """S runs of at most Q queries that see at most L keys."""

    rows: slice | torch.Tensor
    """Rows of the step, S * Q of them: padded queries repeat a run's first."""
    own: torch.Tensor | None
    """int64: which of the S * Q are no padding; None = all."""
    blocks: torch.Tensor
    """int64 [S, blocks]"""
    mask: Mask
    unseen: torch.Tensor
    """int64: the gathered positions, of S * L, that no query of the group may see."""


class PagedAttention:
    """An AttentionContext for one step."""

    def __init__(self, pool: KVPool, batch: Batch, dtype: torch.dtype, heads_per_key: int) -> None:
        """`heads_per_key`: query heads that share one key and value head."""
        self._pool = pool
        self._batch = batch
        self._dtype = dtype
        self._heads_per_key = heads_per_key
        self._multiple = math.lcm(KEY_MULTIPLE, pool.block_tokens) // pool.block_tokens
        self._plans: dict[int | None, list[_Group]] = {}

    def attend(
        self,
        layer: int,
        qkv: torch.Tensor,
        layout: HeadLayout,
        rotation: Rotation,
        *,
        scale: float,
        window: int | None = None,
        softcap: float | None = None,
        rows: torch.Tensor | None = None,
    ) -> torch.Tensor:
        query, key, value = layout.split(qkv, rotation)
        self._pool.store(layer, self._batch.slot_mapping, key, value)
        self._pool.copy(layer, self._batch.copies)
        if window not in self._plans:
            self._plans[window] = self._plan(window)
        output = torch.empty_like(query)
        for group in self._plans[window]:
            attended = self._attend(layer, group, query[group.rows], scale, softcap)
            if group.own is None:
                output[group.rows] = attended
            else:
                assert isinstance(group.rows, torch.Tensor)
                output[group.rows[group.own]] = attended[group.own]
        tokens = self._batch.query_starts[-1]
        if tokens < len(output):
            output[tokens:] = output[tokens - 1]
        return output.flatten(1) if rows is None else output[rows].flatten(1)

    def _attend(
        self, layer: int, group: _Group, query: torch.Tensor, scale: float, softcap: float | None
    ) -> torch.Tensor:
        """[S * Q, heads, head_dim] -> the same"""
        keys, values = self._pool.gather(layer, group.blocks, self._dtype, group.unseen)
        sequences, kv_heads = keys.shape[:2]
        by_head = query.view(sequences, -1, *query.shape[1:]).transpose(1, 2)
        rows = by_head.reshape(sequences, kv_heads, -1, query.shape[-1])
        attended = dense_attention(rows, keys, values, group.mask, scale, softcap)
        return attended.view(by_head.shape).transpose(1, 2).reshape(query.shape)

    def _plan(self, window: int | None) -> list[_Group]:
        batch = self._batch
        runs: list[Run] = []
        for row, context in enumerate(batch.context_lengths):
            start, stop = batch.query_starts[row : row + 2]
            table = batch.block_tables[row]
            runs += runs_of(start, stop - start, context, table, self._pool.block_tokens, self._multiple, window)
        return [self._group(group, window) for group in grouped(runs, self._pool.block_tokens)]

    def _group(self, runs: list[Run], window: int | None) -> _Group:
        width = len(runs[0].blocks) + -len(runs[0].blocks) % self._multiple
        blocks = torch.tensor([run.blocks + [0] * (width - len(run.blocks)) for run in runs])
        count = max(run.count for run in runs)
        first_key = torch.tensor([run.first_key for run in runs])[:, None, None]
        first_query = torch.tensor([run.first_position for run in runs])[:, None, None]
        counts = torch.tensor([run.count for run in runs])
        # A padded query sees what the run's first one sees.
        offsets = torch.arange(count).expand(len(runs), -1)
        offsets = offsets.where(offsets < counts[:, None], 0)
        keys = first_key + torch.arange(width * self._pool.block_tokens)
        queries = first_query + offsets[:, :, None]
        hidden = keys > queries
        if window is not None:
            hidden |= keys <= queries - window
        rows = torch.tensor([run.start for run in runs])[:, None] + offsets
        return _Group(
            rows=_as_slice(rows.flatten()),
            own=None if len({run.count for run in runs}) == 1 else _positions(torch.arange(count) < counts[:, None]),
            blocks=blocks,
            mask=self._mask(hidden),
            unseen=_positions(hidden.all(1)),
        )

    def _mask(self, hidden: torch.Tensor) -> Mask:
        """bool [S, Q, L]"""
        columns = hidden.flatten(0, 1).any(0).nonzero()
        begin = int(columns[0]) if len(columns) else hidden.shape[-1]
        scores = torch.zeros(hidden.shape, dtype=self._dtype).masked_fill_(hidden, -torch.inf)
        return Mask(scores.repeat(1, self._heads_per_key, 1).unsqueeze(1), begin, decodes=hidden.shape[1] == 1)


def _positions(chosen: torch.Tensor) -> torch.Tensor:
    return chosen.flatten().nonzero().squeeze(1)


def _as_slice(rows: torch.Tensor) -> slice | torch.Tensor:
    """Rows that follow each other are read and written in place."""
    first = int(rows[0])
    return slice(first, first + len(rows)) if bool((rows == torch.arange(first, first + len(rows))).all()) else rows
