"""Grouping decodes: every row once, its visible blocks exact, padding never more than its own blocks."""

from hypothesis import given
from hypothesis import strategies as st

from appliance.engine.runner.decode_groups import decode_groups


@given(
    lengths=st.lists(st.integers(1, 4000), min_size=1, max_size=40),
    block_tokens=st.sampled_from([1, 16, 64]),
    multiple=st.sampled_from([1, 2, 32]),
    window=st.sampled_from([None, 1, 100, 512]),
)
def test_groups_cover_rows_and_bound_padding(lengths, block_tokens, multiple, window):
    tables = [[1000 * row + i for i in range(-(-length // block_tokens))] for row, length in enumerate(lengths)]
    groups = decode_groups(lengths, tables, block_tokens, window, multiple)
    assert sorted(row for group in groups for row in group.rows) == list(range(len(lengths)))
    for group in groups:
        width = len(group.blocks[0])
        for row, blocks, first, end in zip(group.rows, group.blocks, group.first, group.end, strict=True):
            assert len(blocks) == width
            seen = [blocks[at // block_tokens] * block_tokens + at % block_tokens for at in range(first, end)]
            length = lengths[row]
            start = max(0, length - (window or length))
            table = tables[row]
            assert seen == [table[at // block_tokens] * block_tokens + at % block_tokens for at in range(start, length)]
            own = -(-end // block_tokens)
            assert width % multiple == 0 and width - own < own + multiple
