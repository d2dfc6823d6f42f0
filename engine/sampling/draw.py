"""One token from one row of logits: temperature, top-k, top-p, min-p, then the inverse of the cumulated probabilities.

Randomness is a single uniform number keyed by (seed, position), so a request draws the same tokens whatever else is in
its batch and however often it is preempted.
"""

import hashlib
import struct

import torch

from appliance.engine.protocol import SamplingParams

# Most nuclei are small: the vocabulary is sorted whole only when the most likely ones do not suffice.
_FIRST_CANDIDATES = 128


def keyed_uniform(seed: int, position: int) -> float:
    """Uniform in [0, 1) with 53 random bits."""
    key = struct.pack("<QQ", seed & (2**64 - 1), position)
    (bits,) = struct.unpack("<Q", hashlib.blake2b(key, digest_size=8).digest())
    return float(bits >> 11) * 2.0**-53


def draw(logits: torch.Tensor, sampling: SamplingParams, uniform: float) -> int:
    """float32 [V] (adjusted, not yet divided by the temperature) -> token id. Temperature must be positive."""
    scaled = (logits / sampling.temperature).double()
    probabilities = torch.softmax(scaled, dim=-1)
    if sampling.top_k <= 0 and sampling.top_p >= 1.0:
        if sampling.min_p > 0.0:
            probabilities[probabilities < sampling.min_p * probabilities.max()] = 0.0
        return _invert(probabilities, uniform)
    ids, kept = _candidates(probabilities, sampling)
    if sampling.min_p > 0.0:
        kept[kept < sampling.min_p * kept[0]] = 0.0
    return int(ids[_invert(kept, uniform)])


def _candidates(probabilities: torch.Tensor, sampling: SamplingParams) -> tuple[torch.Tensor, torch.Tensor]:
    """Ids and probabilities inside top-k, then inside top-p of what top-k left, most likely first."""
    vocabulary = len(probabilities)
    limit = min(sampling.top_k, vocabulary) if sampling.top_k > 0 else vocabulary
    width = limit if sampling.top_k > 0 else min(_FIRST_CANDIDATES, vocabulary)
    values, ids = torch.topk(probabilities, width)
    if sampling.top_p >= 1.0:
        return ids, values
    total = values.sum() if sampling.top_k > 0 else probabilities.sum()
    if width < limit and values.sum() < sampling.top_p * total:
        values, ids = torch.sort(probabilities, descending=True, stable=True)
    before = torch.cumsum(values, 0) - values
    inside = int((before < sampling.top_p * total).sum())
    return ids[: max(1, inside)], values[: max(1, inside)]


def _invert(weights: torch.Tensor, uniform: float) -> int:
    """Index whose share of the cumulated weights holds `uniform`; never one of weight zero."""
    cumulated = torch.cumsum(weights, 0)
    index = int(torch.searchsorted(cumulated, uniform * cumulated[-1], right=True))
    return min(index, int(torch.nonzero(weights)[-1]))
