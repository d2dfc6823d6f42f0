"""Attention by the compiled CPU kernels: keys and values are read where they lie in the pool.

One kernel normalises, turns and stores a step's heads, one attends. A row's result depends on its own keys only.
"""

import ctypes
from dataclasses import dataclass

import torch

from appliance.engine.layers.heads import HeadLayout
from appliance.engine.layers.norm import HeadNorm
from appliance.engine.layers.rotary import Rotation
from appliance.engine.runner.batch import Batch
from appliance.engine.runner.kv_pool import KVPool
from appliance.engine.runner.query_groups import RUN_QUERIES
from appliance.kernels.cpu.library import AttentionShape, HeadShape, Library


@dataclass(frozen=True)
class Runs:
    """Consecutive queries of one sequence each, longest work first."""

    table: torch.Tensor
    """int64 [runs, 5]: first row, row of its result, queries, first position, first block's index"""
    rows: int
    """of the result"""
    scores: int
    """queries x keys of one head"""


class CompiledKernels:
    """The functions for one model's dtype and KV format, and the norms' weights as they want them."""

    def __init__(self, library: Library, dtype: torch.dtype, kv_format: str) -> None:
        self.place = library.place(dtype, kv_format)
        self.attend = library.attend(dtype, kv_format)
        self._norms: dict[HeadNorm, tuple[torch.Tensor, torch.Tensor]] = {}

    def norm_weights(self, norm: HeadNorm | None) -> tuple[int, int]:
        """Addresses of float32 [head_dim] for queries and for keys; 0 = not normalised."""
        if norm is None:
            return 0, 0
        if norm not in self._norms:
            self._norms[norm] = norm.weights()
        queries, keys = self._norms[norm]
        return queries.data_ptr(), keys.data_ptr()


class CompiledAttention:
    """An AttentionContext for one step."""

    def __init__(self, kernels: CompiledKernels, pool: KVPool, batch: Batch) -> None:
        self._kernels = kernels
        self._pool = pool
        self._batch = batch
        self._starts = [0]
        for table in batch.block_tables:
            self._starts.append(self._starts[-1] + len(table))
        self._blocks = torch.tensor([block for table in batch.block_tables for block in table])
        self._all = self._runs(range(batch.query_starts[-1]))
        self._wanted: Runs | None = None

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
        query = self._place(layer, qkv, layout, rotation)
        runs = self._all if rows is None else self._runs_of(rows)
        total = len(qkv) if rows is None else len(rows)
        output = qkv.new_empty(total, layout.heads * layout.head_dim)
        shape = AttentionShape(
            layout.heads,
            layout.kv_heads,
            layout.head_dim,
            self._pool.block_tokens,
            self._pool.token_bytes,
            window or 0,
            scale,
            softcap or 0.0,
        )
        self._kernels.attend(
            query.data_ptr(),
            output.data_ptr(),
            self._pool.layers[layer].data_ptr(),
            self._blocks.data_ptr(),
            runs.table.data_ptr(),
            len(runs.table),
            runs.scores * layout.heads * layout.head_dim,
            ctypes.byref(shape),
        )
        if runs.rows < total:
            output[runs.rows :] = output[runs.rows - 1]
        return output

    def _place(self, layer: int, qkv: torch.Tensor, layout: HeadLayout, rotation: Rotation) -> torch.Tensor:
        """The turned queries; keys and values go to the pool."""
        query = qkv.new_empty(len(qkv), layout.heads * layout.head_dim)
        eps = layout.norm.eps if layout.norm else 0.0
        cos, sin = rotation
        shape = HeadShape(
            len(qkv),
            layout.heads,
            layout.kv_heads,
            layout.head_dim,
            cos.stride(0),
            self._pool.token_bytes,
            eps,
        )
        self._kernels.place(
            qkv.data_ptr(),
            query.data_ptr(),
            self._pool.layers[layer].data_ptr(),
            self._batch.slot_mapping.data_ptr(),
            cos.data_ptr(),
            sin.data_ptr(),
            *self._kernels.norm_weights(layout.norm),
            ctypes.byref(shape),
        )
        self._pool.copy(layer, self._batch.copies)
        return query

    def _runs_of(self, rows: torch.Tensor) -> Runs:
        if self._wanted is None:
            own = [row for row in rows.tolist() if row < self._batch.query_starts[-1]]
            self._wanted = self._runs(own)
        return self._wanted

    def _runs(self, rows: range | list[int]) -> Runs:
        """`rows` ascend, perhaps with repetitions."""
        batch, found = self._batch, []
        sequence, result = 0, 0
        while result < len(rows):
            row = rows[result]
            while batch.query_starts[sequence + 1] <= row:
                sequence += 1
            end = batch.query_starts[sequence + 1]
            count = 1
            while count < RUN_QUERIES and result + count < len(rows) and rows[result + count] == row + count < end:
                count += 1
            position = batch.context_lengths[sequence] - (end - row)
            found.append((row, result, count, position, self._starts[sequence]))
            result += count
        scores = sum(count * (position + count) for _, _, count, position, _ in found)
        found.sort(key=lambda run: -run[2] * (run[3] + run[2]))
        return Runs(torch.tensor(found), len(rows), scores)
