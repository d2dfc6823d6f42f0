"""Which implementation attends: the compiled kernels where they know model and KV format, else PyTorch."""

from collections.abc import Callable
from functools import partial

import torch

from appliance.engine.layers.attention import AttentionContext
from appliance.engine.layers.ops import CompiledOps, Ops
from appliance.engine.runner.batch import Batch
from appliance.engine.runner.compiled_attention import CompiledAttention, CompiledKernels
from appliance.engine.runner.kv_pool import KVPool
from appliance.engine.runner.paged_attention import PagedAttention
from appliance.kernels.cpu.library import NAMES


def choose_attention(pool: KVPool, dtype: torch.dtype, heads: int, ops: Ops) -> Callable[[Batch], AttentionContext]:
    """`ops`: the model's other operations; attention follows them."""
    if isinstance(ops, CompiledOps) and pool.format.name in NAMES.values():
        kernels = CompiledKernels(ops.library, dtype, pool.format.name)
        return partial(CompiledAttention, kernels, pool)
    return lambda batch: PagedAttention(pool, batch, dtype, heads // pool.num_kv_heads)
