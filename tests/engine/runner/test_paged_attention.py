"""Paged attention against a dense float64 truth: mixed decodes and chunks, windows, soft caps, scattered blocks."""

import math
from functools import partial

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from appliance.engine.layers.heads import HeadLayout
from appliance.engine.layers.ops import EagerOps
from appliance.engine.layers.ops.compiled import compiled_ops
from appliance.engine.runner.attention import choose_attention
from appliance.engine.runner.batch import Batch
from appliance.engine.runner.kv_pool import KVPool
from appliance.kernels.kv import kv_format

BLOCK, HEADS, KV_HEADS, DIM = 4, 6, 2, 16

LAYOUT = HeadLayout(HEADS, KV_HEADS, DIM)

both = pytest.mark.parametrize(
    "ops", [lambda _: EagerOps(), lambda dtype: compiled_ops(dtype, DIM, ())], ids=["eager", "compiled"]
)


def truth(query, keys, values, scale, window, softcap):
    """float64 [queries, heads, dim] over [context, kv_heads, dim]; queries are the last positions."""
    repeats = query.shape[1] // keys.shape[1]
    keys, values = keys.repeat_interleave(repeats, 1), values.repeat_interleave(repeats, 1)
    scores = torch.einsum("qhd,khd->hqk", query, keys) * scale
    if softcap is not None:
        scores = softcap * torch.tanh(scores / softcap)
    own = torch.arange(len(keys) - len(query), len(keys)).unsqueeze(1)
    at = torch.arange(len(keys))
    visible = (at <= own) & (at > own - (window or math.inf))
    return torch.einsum("hqk,khd->qhd", scores.masked_fill(~visible, -torch.inf).softmax(-1), values)


def run(ops, shares, window, softcap, dtype=torch.float32, kv_dtype="float32", seed=0):
    """shares: (computed, new) per sequence, decodes first. Returns (paged, truth) outputs of the last step."""
    generator = torch.Generator().manual_seed(seed)
    blocks_needed = [-(-(computed + new) // BLOCK) for computed, new in shares]
    pool = KVPool(kv_format(kv_dtype), 1, sum(blocks_needed) + 3, BLOCK, KV_HEADS, DIM)
    pool.layers[0].fill_(0xFF)  # NaN in every float format: a byte read without having been written shows
    ids = torch.randperm(sum(blocks_needed) + 3, generator=generator).tolist()
    tables = [[ids.pop() for _ in range(count)] for count in blocks_needed]
    full = [torch.randn(c + n, 2, KV_HEADS, DIM, generator=generator).to(dtype) for c, n in shares]
    for (computed, _), table, kv in zip(shares, tables, full, strict=True):
        at = torch.arange(computed)
        slots = torch.tensor(table)[at // BLOCK] * BLOCK + at % BLOCK
        pool.store(0, slots, kv[:computed, 0], kv[:computed, 1])
    query = torch.randn(sum(new for _, new in shares), HEADS, DIM, generator=generator).to(dtype)
    spans, starts = [], [0]
    for (computed, new), table in zip(shares, tables, strict=True):
        at = torch.arange(computed, computed + new)
        spans.append(torch.tensor(table)[at // BLOCK] * BLOCK + at % BLOCK)
        starts.append(starts[-1] + new)
    decodes = next((i for i, (_, new) in enumerate(shares) if new != 1), len(shares))
    batch = Batch(
        input_ids=torch.zeros(starts[-1], dtype=torch.int64),
        positions=torch.zeros(starts[-1], dtype=torch.int64),
        slot_mapping=torch.cat(spans),
        query_starts=starts,
        context_lengths=[c + n for c, n in shares],
        block_tables=tables,
        num_decodes=decodes,
        sample_rows=torch.zeros(0, dtype=torch.int64),
    )
    key = torch.cat([kv[c:, 0] for (c, _), kv in zip(shares, full, strict=True)])
    value = torch.cat([kv[c:, 1] for (c, _), kv in zip(shares, full, strict=True)])
    scale = 0.37
    unturned = torch.ones(starts[-1], 1, DIM), torch.zeros(starts[-1], 1, DIM)
    qkv = torch.cat((query, key, value), 1).flatten(1)
    context = choose_attention(pool, dtype, HEADS, ops(dtype))(batch)
    attend = partial(context.attend, 0, qkv, LAYOUT, unturned, scale=scale, window=window, softcap=softcap)
    paged = attend()
    some = torch.arange(0, starts[-1], 3)
    assert torch.equal(attend(rows=some), paged[some])
    paged = paged.view_as(query)
    expected = [
        truth(query[starts[i] : starts[i + 1]].double(), kv[:, 0].double(), kv[:, 1].double(), scale, window, softcap)
        for i, kv in enumerate(full)
    ]
    return paged.double(), torch.cat(expected)


share = st.tuples(st.integers(0, 23), st.integers(2, 9))
decode = st.tuples(st.integers(0, 61), st.just(1))


@both
@given(
    decodes=st.lists(decode, max_size=5),
    chunks=st.lists(share, max_size=3),
    window=st.sampled_from([None, 1, 3, 4, 11]),
    softcap=st.sampled_from([None, 2.5]),
    seed=st.integers(0, 1000),
)
def test_equals_dense_attention(ops, decodes, chunks, window, softcap, seed):
    if not decodes + chunks:
        return
    paged, expected = run(ops, decodes + chunks, window, softcap, seed=seed)
    assert torch.allclose(paged, expected, atol=2e-5), (paged - expected).abs().max()


@pytest.mark.parametrize("window", [None, 50, 200])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@both
def test_long_chunks_are_tiled(ops, dtype, window):
    kv_dtype = str(dtype).removeprefix("torch.")
    paged, expected = run(ops, [(300, 1), (0, 300), (37, 290), (500, 129)], window, None, dtype, kv_dtype)
    assert (paged - expected).abs().max() < (2e-5 if dtype == torch.float32 else 0.03)


@pytest.mark.parametrize(("dtype", "kv_dtype", "bound"), [
    (torch.bfloat16, "bfloat16", 0.03),
    (torch.float16, "float16", 0.004),
    (torch.float32, "bfloat16", 0.03),
    (torch.float32, "float16", 0.004),
    (torch.bfloat16, "float32", 0.03),
])  # fmt: skip
@both
def test_low_precision_stays_within_its_rounding(ops, dtype, kv_dtype, bound):
    paged, expected = run(ops, [(40, 1), (3, 1), (7, 5), (0, 6)], None, None, dtype, kv_dtype)
    assert (paged - expected).abs().max() < bound


@both
def test_a_lossy_cache_is_read_even_where_the_chunk_is_the_whole_context(ops):
    whole, _ = run(ops, [(0, 6)], None, None, torch.float32, "bfloat16")
    exact, _ = run(ops, [(0, 6)], None, None, torch.float32, "float32")
    assert not torch.equal(whole, exact)
