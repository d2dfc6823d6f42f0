"""Attention over the paged cache in plain PyTorch, for every KV format: decodes in padded groups, prefills in tiles.

A decoding row sees its cache through one gather of its group, a tile of a prefill through a gather of the keys it may
see. Masks and index tensors are made once per step and window, then shared by all layers.

Every row attends through a mask to a number of keys that is a multiple of KEY_MULTIPLE, counted from such a multiple,
so that neither its neighbours nor the ends of chunks change the order in which its sums are made.
"""

import math
from dataclasses import dataclass

import torch

from appliance.engine.runner.batch import Batch
from appliance.engine.runner.decode_groups import decode_groups
from appliance.engine.runner.dense_attention import Mask, dense_attention
from appliance.engine.runner.kv_pool import KVPool

# bfloat16 products of torch treat the keys beyond a multiple of this in another order.
KEY_MULTIPLE = 32
# Queries of one tile: keys that lie behind all of them are not gathered.
TILE_QUERIES = 128


@dataclass(frozen=True)
class _Decode:
    rows: torch.Tensor | None
    """int64 [S] rows of the batch, or None where the group is the whole run of decodes in order."""
    blocks: torch.Tensor
    mask: Mask
    hidden: torch.Tensor
    """int64: the masked positions of the S * L gathered ones."""


@dataclass(frozen=True)
class _Tile:
    """Queries [start, stop) of the step, all of one sequence."""

    start: int
    stop: int
    blocks: torch.Tensor
    """int64 [1, B]"""
    mask: Mask
    hidden: torch.Tensor
    """int64: the gathered positions that the sequence has not filled."""


class PagedAttention:
    """An AttentionContext for one step."""

    def __init__(self, pool: KVPool, batch: Batch, dtype: torch.dtype, heads_per_key: int) -> None:
        """`heads_per_key`: query heads that share one key and value head."""
        self._pool = pool
        self._batch = batch
        self._dtype = dtype
        self._heads_per_key = heads_per_key
        self._multiple = math.lcm(KEY_MULTIPLE, pool.block_tokens) // pool.block_tokens
        self._plans: dict[int | None, tuple[list[_Decode], list[_Tile]]] = {}

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
            self._plans[window] = self._plan_decodes(window), self._plan_tiles(window)
        decodes, tiles = self._plans[window]
        output = torch.empty_like(query)
        for group in decodes:
            self._decode(layer, group, query, output, scale, softcap)
        for tile in tiles:
            self._prefill(layer, tile, query, output, scale, softcap)
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
        grouped = rows.unflatten(1, (-1, self._heads_per_key))
        attended = dense_attention(grouped, keys, values, group.mask, scale, softcap).reshape(rows.shape)
        if group.rows is None:
            output[:count] = attended
        else:
            output[group.rows] = attended

    def _prefill(
        self, layer: int, tile: _Tile, query: torch.Tensor, output: torch.Tensor, scale: float, softcap: float | None
    ) -> None:
        span = slice(tile.start, tile.stop)
        rows = query[span].transpose(0, 1)
        keys, values = self._pool.gather(layer, tile.blocks, self._dtype, tile.hidden)
        grouped = rows.reshape(1, keys.shape[1], -1, rows.shape[-1])
        attended = dense_attention(grouped, keys, values, tile.mask, scale, softcap)
        output[span] = attended.view(rows.shape).transpose(0, 1)

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
            mask = self._mask(hidden[:, None, None])
            rows = None if group.rows == list(range(count)) else torch.tensor(group.rows)
            plans.append(_Decode(rows, blocks, mask, hidden.flatten().nonzero().squeeze(1)))
        return plans

    def _plan_tiles(self, window: int | None) -> list[_Tile]:
        batch = self._batch
        plans = []
        for row in range(batch.num_decodes, len(batch.context_lengths)):
            begin, end, context = batch.query_starts[row], batch.query_starts[row + 1], batch.context_lengths[row]
            for start in range(begin, end, TILE_QUERIES):
                stop = min(start + TILE_QUERIES, end)
                own = range(context - (end - start), context - (end - stop))
                plans.append(self._tile(start, stop, own, batch.block_tables[row], window))
        return plans

    def _tile(self, start: int, stop: int, own: range, table: list[int], window: int | None) -> _Tile:
        """`own`: the positions of the queries in their sequence."""
        size = self._pool.block_tokens
        first = max(0, own.start - window + 1) // size // self._multiple * self._multiple if window is not None else 0
        visible = table[first : -(-own.stop // size)]
        blocks = torch.tensor([visible + [0] * (-len(visible) % self._multiple)])
        keys = torch.arange(first * size, (first + blocks.shape[1]) * size)
        queries = torch.arange(own.start, own.stop).unsqueeze(1)
        hidden = keys > queries
        if window is not None:
            hidden |= keys <= queries - window
        mask = self._mask(hidden.repeat(self._heads_per_key, 1)[None, None])
        return _Tile(start, stop, blocks, mask, (keys >= own.stop).nonzero().squeeze(1))

    def _mask(self, hidden: torch.Tensor) -> Mask:
        """bool [S, 1, R, L]"""
        columns = hidden.flatten(0, 2).any(0).nonzero()
        begin = int(columns[0]) if len(columns) else hidden.shape[-1]
        return Mask(torch.zeros(hidden.shape, dtype=self._dtype).masked_fill_(hidden, -torch.inf), begin)
