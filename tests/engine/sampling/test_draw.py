"""Drawing against a plain numpy reading of the parameters, and against the distribution it must have."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from appliance.engine.protocol import SamplingParams
from appliance.engine.sampling.draw import draw, keyed_uniform


def allowed(logits: np.ndarray, sampling: SamplingParams) -> dict[int, float]:
    """Token -> renormalised probability after temperature, top-k, top-p, min-p, in float64."""
    scaled = logits.astype(np.float64) / sampling.temperature
    probabilities = np.exp(scaled - scaled.max())
    probabilities /= probabilities.sum()
    order = sorted(range(len(logits)), key=lambda token: (-probabilities[token], token))
    if sampling.top_k > 0:
        order = order[: sampling.top_k]
    if sampling.top_p < 1.0:
        total, before, kept = sum(probabilities[order]), 0.0, []
        for token in order:
            if kept and before >= sampling.top_p * total:
                break
            kept.append(token)
            before += probabilities[token]
        order = kept
    floor = sampling.min_p * probabilities[order[0]]
    order = [token for token in order if probabilities[token] >= floor]
    mass = sum(probabilities[order])
    return {token: probabilities[token] / mass for token in order}


@given(
    seed=st.integers(0, 2**32),
    vocabulary=st.sampled_from([2, 17, 300]),
    temperature=st.floats(0.05, 3.0),
    top_k=st.sampled_from([0, 1, 5, 200, 1000]),
    top_p=st.sampled_from([1.0, 0.95, 0.5, 0.01]),
    min_p=st.sampled_from([0.0, 0.05, 0.9]),
)
def test_only_allowed_tokens_are_drawn(seed, vocabulary, temperature, top_k, top_p, min_p):
    logits = np.random.default_rng(seed).normal(0, 3, vocabulary).astype(np.float32)
    sampling = SamplingParams(max_tokens=1, temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p)
    expected = allowed(logits, sampling)
    for position in range(8):
        assert draw(torch.from_numpy(logits), sampling, keyed_uniform(seed, position)) in expected


@pytest.mark.parametrize(
    "settings",
    [{}, {"temperature": 0.5}, {"top_k": 4}, {"top_p": 0.8}, {"min_p": 0.1}, {"top_k": 6, "top_p": 0.9, "min_p": 0.05}],
    ids=str,
)
def test_draws_follow_the_distribution(settings):
    logits = np.random.default_rng(5).normal(0, 1.5, 12).astype(np.float32)
    sampling = SamplingParams(max_tokens=1, **settings)
    draws = 20_000
    counts = np.bincount(
        [draw(torch.from_numpy(logits), sampling, keyed_uniform(1, position)) for position in range(draws)],
        minlength=len(logits),
    )
    expected = np.zeros(len(logits))
    for token, probability in allowed(logits, sampling).items():
        expected[token] = probability
    assert not counts[expected == 0].any()
    inside = expected > 0
    chi_squared = ((counts[inside] - draws * expected[inside]) ** 2 / (draws * expected[inside])).sum()
    # the 99.99 % quantile for 11 degrees of freedom; the keyed stream is fixed, so this never flickers
    assert chi_squared < 37.4


def test_the_ends_of_the_uniform_range_hit_tokens_of_some_probability():
    logits = torch.tensor([-torch.inf, 1.0, 0.0, -torch.inf])
    sampling = SamplingParams(max_tokens=1)
    assert draw(logits, sampling, 0.0) == 1
    assert draw(logits, sampling, 1.0 - 2.0**-53) == 2


def test_keyed_uniform_differs_by_seed_and_position_and_stays_in_range():
    values = {keyed_uniform(seed, position) for seed in (-1, 0, 1, 2**63) for position in range(50)}
    assert len(values) == 200
    assert all(0.0 <= value < 1.0 for value in values)
