"""Which decoding sequences attend together: padding is wasted work, so lengths within a factor of two share a group."""

from dataclasses import dataclass


@dataclass(frozen=True)
class DecodeGroup:
    """Sequences whose visible blocks are padded to one width."""

    rows: list[int]
    """Positions in the batch."""
    blocks: list[list[int]]
    """Per row the visible blocks, padded with block 0 to the same length."""
    first: list[int]
    """Per row the first visible position inside the gathered blocks (> 0 only under a window)."""
    end: list[int]
    """Per row one past the last visible position inside the gathered blocks."""


def decode_groups(
    context_lengths: list[int], block_tables: list[list[int]], block_tokens: int, window: int | None, multiple: int = 1
) -> list[DecodeGroup]:
    """Groups rows [0, len(context_lengths)); long rows come first.

    Padding never exceeds a row's own blocks, beyond what makes the width a multiple of `multiple` blocks.
    """
    visible: list[tuple[int, int, list[int], int, int]] = []
    for row, length in enumerate(context_lengths):
        hidden = max(0, length - window) if window is not None else 0
        skipped = hidden // block_tokens // multiple * multiple
        last = -(-length // block_tokens)
        blocks = block_tables[row][skipped:last]
        visible.append((len(blocks), row, blocks, hidden - skipped * block_tokens, length - skipped * block_tokens))
    visible.sort(key=lambda entry: (-entry[0], entry[1]))
    groups: list[DecodeGroup] = []
    start = 0
    while start < len(visible):
        longest = visible[start][0]
        stop = start
        while stop < len(visible) and visible[stop][0] * 2 > longest:
            stop += 1
        width = longest + -longest % multiple
        members = visible[start:stop]
        groups.append(
            DecodeGroup(
                rows=[row for _, row, _, _, _ in members],
                blocks=[blocks + [0] * (width - count) for count, _, blocks, _, _ in members],
                first=[first for _, _, _, first, _ in members],
                end=[end for _, _, _, _, end in members],
            )
        )
        start = stop
    return groups
