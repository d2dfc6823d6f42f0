"""Log-probabilities to report: of the model's own distribution, before any sampling parameter touches it."""

from dataclasses import dataclass

import torch

from appliance.engine.protocol import SamplingParams, TokenLogprobs


@dataclass(frozen=True)
class Wanted:
    """What to report of one row beside its token: `listed` ids where given, else the `top` most likely (-1 = all)."""

    top: int = 0
    listed: tuple[int, ...] = ()


def wanted_of(sampling: SamplingParams) -> Wanted | None:
    """What a request asks of each generated token, None where it asks nothing."""
    if sampling.logprobs is None and not sampling.logprob_token_ids:
        return None
    return Wanted(sampling.logprobs or 0, sampling.logprob_token_ids)


def token_logprobs(logits: torch.Tensor, chosen: list[int], wanted: list[Wanted]) -> list[TokenLogprobs]:
    """float32 [R, V] raw logits with one token id and one wish a row -> one report a row."""
    if not chosen:
        return []
    normaliser = torch.logsumexp(logits, dim=-1, keepdim=True)
    own = logits.gather(1, torch.tensor(chosen).unsqueeze(1))
    ranks = ((logits > own).sum(-1) + 1).tolist()
    own_logprobs = (own - normaliser).squeeze(1).tolist()
    vocabulary = logits.shape[1]
    tops = [0 if wish.listed else vocabulary if wish.top < 0 else min(wish.top, vocabulary) for wish in wanted]
    top_ids: list[list[int]] = [[]] * len(chosen)
    top_values: list[list[float]] = [[]] * len(chosen)
    if max(tops):
        values, ids = torch.topk(logits, max(tops), dim=-1)
        top_ids, top_values = ids.tolist(), (values - normaliser).tolist()
    reports = []
    for row, wish in enumerate(wanted):
        if wish.listed:
            ids_here = list(wish.listed)
            values_here = (logits[row, torch.tensor(ids_here)] - normaliser[row]).tolist()
        else:
            ids_here, values_here = top_ids[row][: tops[row]], top_values[row][: tops[row]]
        reports.append(TokenLogprobs(chosen[row], own_logprobs[row], ranks[row], ids_here, values_here))
    return reports
