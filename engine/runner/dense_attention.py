"""Attention over keys and values that lie gathered: softmax(cap(q k^T scale) + mask) v.

The query heads that share a key head are its rows: query [S, kv_heads, R, head_dim], R = queries x heads per key head;
keys and values [S, kv_heads, L, head_dim].
"""

from dataclasses import dataclass

import torch
from torch.nn.functional import scaled_dot_product_attention


@dataclass(frozen=True)
class Mask:
    """What is added to the scores."""

    scores: torch.Tensor
    """[S, 1, R, L]: 0, or -inf where a key is hidden."""
    begin: int
    """Keys before this one are visible to every row."""
    decodes: bool = False
    """One query a sequence."""


def dense_attention(
    query: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    mask: Mask,
    scale: float,
    softcap: float | None,
) -> torch.Tensor:
    """Returns the shape of `query`. `softcap` c: c * tanh(score / c), which no fused kernel of torch offers."""
    if softcap is not None:
        scores = torch.matmul(query, keys.transpose(2, 3)).float().mul_(scale / softcap).tanh_().mul_(softcap)
        return torch.matmul((scores + mask.scores).softmax(-1).to(query.dtype), values)
    if query.dtype == torch.bfloat16 and not mask.decodes:
        return _products(query, keys, values, mask, scale)
    return scaled_dot_product_attention(query, keys, values, attn_mask=mask.scores, scale=scale)


def _products(query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, mask: Mask, scale: float) -> torch.Tensor:
    """Two batched products around a softmax: for more than one query over twice as fast as torch's fused kernel.

    A row's result depends on nothing but its own keys. Scores are rounded to bfloat16 in between.
    """
    sequences, kv_heads, length, head_dim = keys.shape
    rows = query.reshape(sequences * kv_heads, -1, head_dim)
    # Contiguous rows first: a transposed copy made inside the product takes three times as long.
    laid_out = keys.reshape(len(rows), length, head_dim).contiguous()
    # beta = 0: the first argument is not read. The product scales its float32 sums before it rounds them.
    scores = torch.baddbmm(rows.new_empty(1, 1, 1), rows, laid_out.transpose(1, 2), beta=0, alpha=scale)
    if mask.begin < length:
        scores.view(sequences, kv_heads, -1, length)[..., mask.begin :].add_(mask.scores[..., mask.begin :])
    return torch.bmm(scores.softmax(-1), values.reshape(len(rows), length, head_dim)).view(query.shape)
