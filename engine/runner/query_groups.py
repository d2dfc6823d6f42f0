"""Which queries attend together: runs of one sequence's queries, of similar size, padded to one shape.

Padding is wasted work and calls cost time of their own, so shapes within a factor of two share a group, as long as the
group's scores stay small enough to be kept near the processor.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

# Queries of one run at most: keys that lie behind all of them are not gathered.
RUN_QUERIES = 128
# Scores (queries x keys, of one head) of a group at most, where it has more than one run.
GROUP_SCORES = 128 * 1024


@dataclass(frozen=True)
class Run:
    """Consecutive queries of one sequence, and the blocks that hold every key they see."""

    start: int
    """Row of the first query in the step."""
    first_position: int
    """Its position in the sequence."""
    count: int
    blocks: list[int]
    first_key: int
    """Position of the first block's first key in the sequence."""

    def __post_init__(self) -> None:
        assert 0 < self.count <= RUN_QUERIES and self.first_key <= self.first_position


def runs_of(
    start: int, count: int, context_length: int, table: list[int], block_tokens: int, multiple: int, window: int | None
) -> Iterator[Run]:
    """The last `count` positions of a sequence, whose rows begin at `start`.

    Keys begin at a multiple of `multiple` blocks, the last one before everything that `window` leaves visible.
    """
    for offset in range(0, count, RUN_QUERIES):
        length = min(RUN_QUERIES, count - offset)
        position = context_length - count + offset
        hidden = max(0, position - window + 1) if window is not None else 0
        skipped = hidden // block_tokens // multiple * multiple
        blocks = table[skipped : -(-(position + length) // block_tokens)]
        yield Run(start + offset, position, length, blocks, skipped * block_tokens)


def grouped(runs: Iterable[Run], block_tokens: int) -> list[list[Run]]:
    """Every run once; those with most keys first."""
    ordered = sorted(runs, key=lambda run: (-len(run.blocks), -run.count, run.start))
    groups: list[list[Run]] = []
    for run in ordered:
        if not (groups and _joins(run, groups[-1], block_tokens)):
            groups.append([])
        groups[-1].append(run)
    return groups


def _joins(run: Run, group: list[Run], block_tokens: int) -> bool:
    longest = len(group[0].blocks)
    counts = [member.count for member in group] + [run.count]
    similar = 2 * len(run.blocks) > longest and 2 * min(counts) > max(counts)
    return similar and len(counts) * max(counts) * longest * block_tokens <= GROUP_SCORES
