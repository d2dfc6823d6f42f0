"""Grouping queries: every query once with exactly its keys, and padding that stays bounded."""

from hypothesis import given
from hypothesis import strategies as st

from appliance.engine.runner.query_groups import GROUP_SCORES, RUN_QUERIES, grouped, runs_of

sequence = st.one_of(
    st.tuples(st.integers(0, 4000), st.just(1)),
    st.tuples(st.integers(0, 4000), st.integers(1, 400)),
)


@given(
    sequences=st.lists(sequence, min_size=1, max_size=30),
    block_tokens=st.sampled_from([1, 16, 64]),
    multiple=st.sampled_from([1, 2, 32]),
    window=st.sampled_from([None, 1, 100, 512]),
)
def test_groups_cover_queries_and_bound_padding(sequences, block_tokens, multiple, window):
    runs, start = [], 0
    for row, (computed, new) in enumerate(sequences):
        context = computed + new
        table = [10_000 * row + number for number in range(-(-context // block_tokens))]
        mine = list(runs_of(start, new, context, table, block_tokens, multiple, window))
        assert [run.start + i for run in mine for i in range(run.count)] == list(range(start, start + new))
        assert [run.first_position + i for run in mine for i in range(run.count)] == list(range(computed, context))
        for run in mine:
            last = run.first_position + run.count
            oldest = max(0, run.first_position - window + 1) if window is not None else 0
            assert run.first_key <= oldest and run.first_key % (multiple * block_tokens) == 0
            assert run.blocks == table[run.first_key // block_tokens : -(-last // block_tokens)]
        runs += mine
        start += new
    groups = grouped(runs, block_tokens)
    assert sorted(run.start for group in groups for run in group) == sorted(run.start for run in runs)
    for group in groups:
        longest, most = len(group[0].blocks), max(run.count for run in group)
        assert all(2 * len(run.blocks) > longest >= len(run.blocks) and 2 * run.count > most for run in group)
        assert len(group) == 1 or len(group) * most * longest * block_tokens <= GROUP_SCORES
        assert most <= RUN_QUERIES
