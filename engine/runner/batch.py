"""The tensors of one step: requests laid end to end, decodes first. First file of the road in which tensors appear."""

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Batch:
    """T tokens of S sequences. Sequences [0, num_decodes) have one query token each; the others are prefill chunks.

    Rows from query_starts[-1] on repeat the last one; their results are not read.
    """

    input_ids: torch.Tensor
    """int64 [T]"""
    positions: torch.Tensor
    """int64 [T]"""
    slot_mapping: torch.Tensor
    """int64 [T]: block * block_tokens + offset, where this token's KV goes"""
    query_starts: list[int]
    """S + 1 offsets into T"""
    context_lengths: list[int]
    """[S] tokens in the cache for each sequence once this step's are stored"""
    block_tables: list[list[int]]
    """[S][ceil(context_length / block_tokens)]"""
    num_decodes: int
    sample_rows: torch.Tensor
    """int64 [R]: rows of T whose logits are wanted"""
    copies: tuple[torch.Tensor, torch.Tensor] | None = None
    """int64 [C] each: slots to read and slots to write once this step's KV is stored; no slot is in both."""
