"""Log-probabilities to report: of the model's own distribution, before any sampling parameter touches it."""

import torch

from appliance.engine.protocol import SamplingParams, TokenLogprobs


def token_logprobs(
    logits: torch.Tensor, chosen: list[int], top: int, listed: tuple[int, ...] = ()
) -> list[TokenLogprobs]:
    """float32 [R, V] raw logits and one token id a row. `top` most likely ids are reported, -1 = all; `listed` ids instead, where given."""
    normaliser = torch.logsumexp(logits, dim=-1, keepdim=True)
    ids = torch.tensor(chosen).unsqueeze(1)
    own = logits.gather(1, ids)
    ranks = (logits > own).sum(-1) + 1
    if listed:
        columns = torch.tensor([listed]).expand(len(chosen), -1)
        values = logits.gather(1, columns)
    else:
        values, columns = torch.topk(logits, logits.shape[1] if top < 0 else min(top, logits.shape[1]), dim=-1)
    return [
        TokenLogprobs(*entry)
        for entry in zip(
            chosen,
            (own - normaliser).squeeze(1).tolist(),
            ranks.tolist(),
            columns.tolist(),
            (values - normaliser).tolist(),
            strict=True,
        )
    ]


def wants_logprobs(sampling: SamplingParams) -> bool:
    return sampling.logprobs is not None or bool(sampling.logprob_token_ids)
