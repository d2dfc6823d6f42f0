"""Reported log-probabilities against torch's log_softmax."""

import torch

from appliance.engine.sampling.logprobs import Wanted, token_logprobs


def test_reports_equal_log_softmax():
    logits = torch.randn(4, 30) * 3
    truth = torch.log_softmax(logits.double(), -1)
    wishes = [Wanted(), Wanted(top=3), Wanted(top=-1), Wanted(listed=(7, 2, 29))]
    reports = token_logprobs(logits, [5, 6, 7, 8], wishes)
    for row, report in enumerate(reports):
        assert abs(report.logprob - truth[row, report.token_id]) < 1e-5
        assert report.rank == 1 + int((truth[row] > truth[row, report.token_id]).sum())
        assert all(abs(value - truth[row, id_]) < 1e-5 for id_, value in zip(report.ids, report.logprobs, strict=True))
    assert reports[0].ids == []
    assert reports[1].ids == truth[1].topk(3).indices.tolist()
    assert len(reports[2].ids) == 30 and abs(sum(map(float, torch.tensor(reports[2].logprobs).exp())) - 1) < 1e-5
    assert reports[3].ids == [7, 2, 29]


def test_nothing_asked_is_nothing_computed():
    assert token_logprobs(torch.empty(0, 10), [], []) == []
