"""The sampler on rows of different requests: one row's parameters never touch another's."""

import torch

from appliance.engine.core.types import SlotStart
from appliance.engine.protocol import SamplingParams
from appliance.engine.runner.slots import Slot
from appliance.engine.sampling.sampler import sample


def slot(tokens: list[int], prompt: int, **settings: object) -> Slot:
    sampling = SamplingParams(max_tokens=8, **settings)
    return Slot.fill(SlotStart("r", tokens, prompt, sampling, fallback_seed=7))


def test_greedy_takes_the_most_likely_token_and_leaves_logits_alone():
    logits = torch.randn(3, 40)
    before = logits.clone()
    chosen = sample(logits, [slot([1, 2], 2, temperature=0.0, logit_bias={0: 9.0})] * 3, (39,))
    assert chosen == [int((row + torch.nn.functional.one_hot(torch.tensor(0), 40) * 9.0).argmax()) for row in before]
    assert torch.equal(logits, before)


def test_penalties_match_their_formulas():
    logits = torch.tensor([[2.0, -1.0, 1.9, 0.5, 0.4]])
    tokens = [1, 2, 0, 0, 3]
    expected = logits[0].double().clone()
    for token in {0, 1, 2, 3}:
        expected[token] = expected[token] / 1.5 if expected[token] > 0 else expected[token] * 1.5
    expected[0] -= 0.3 * 2 + 0.2
    expected[3] -= 0.3 + 0.2
    row = slot(tokens, 2, temperature=0.0, repetition_penalty=1.5, frequency_penalty=0.3, presence_penalty=0.2)
    assert sample(logits, [row], ()) == [int(expected.argmax())]
    from appliance.engine.sampling.adjust import adjust

    own = logits[0].clone()
    adjust(own, row, ())
    assert torch.allclose(own.double(), expected, atol=1e-6)


def test_counts_follow_appended_tokens_and_survive_a_refill():
    row = slot([5, 6], 2, presence_penalty=1.0)
    for token in (9, 9, 3):
        row.append(token)
    refilled = slot([5, 6, 9, 9, 3], 2, presence_penalty=1.0)
    assert row.output_counts == refilled.output_counts == {9: 2, 3: 1}


def test_min_tokens_bans_every_way_to_end():
    logits = torch.zeros(1, 6)
    logits[0, 4], logits[0, 5] = 10.0, 9.0
    early = slot([1], 1, temperature=0.0, min_tokens=1, stop_token_ids=(5,))
    late = slot([1, 2], 1, temperature=0.0, min_tokens=1, stop_token_ids=(5,))
    assert sample(logits, [early], (4,)) == [0]
    assert sample(logits, [late], (4,)) == [4]


def test_a_seeded_row_draws_the_same_in_any_company():
    logits = torch.randn(5, 500)
    seeded = slot([1, 2, 3], 3, seed=11)
    alone = sample(logits[2:3], [seeded], ())
    others = [slot([4], 1), slot([4, 4], 2, temperature=0.0), seeded, slot([9], 1, top_k=3), slot([8], 1, top_p=0.2)]
    assert sample(logits, others, ())[2] == alone[0]
