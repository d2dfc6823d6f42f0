"""What a request gets does not depend on its company, on chunk ends, or on a cached prefix."""

import random

import pytest
import torch
from in_process import InProcess
from msgspec.structs import replace

from appliance.engine.layers import compiled_product
from appliance.engine.protocol import Request, SamplingParams

# Largest difference of a log-probability between company and solitude where oneDNN multiplies. The compiled kernels
# sum every row by itself: there it is none at all.
ONEDNN_BOUND = {"float32": 2e-4, "bfloat16": 0.05}


def seeded(request_id: str, prompt: list[int], seed: int) -> Request:
    sampling = SamplingParams(max_tokens=40, temperature=0.9, top_p=0.95, seed=seed, ignore_eos=True, logprobs=0)
    return Request(request_id=request_id, prompt=prompt, sampling=sampling)


def like(own: list[int]) -> list[Request]:
    """A request of the same group that parts from "own" amid a block, and "own"."""
    shared = own[:40] if len(own) > 40 else own[:20]
    requests = [seeded("like", shared + [7] * 30, 8), seeded("own", own, 5)]
    return [replace(request, group="one call") for request in requests]


def answer(engine: InProcess, requests: list[Request], submit_every: int = 0) -> tuple[list[int], list[float]]:
    """Tokens and log-probabilities of the request called "own"."""
    updates = engine.run(requests, submit_every)["own"]
    assert not requests[0].group or updates[0].cached_tokens % 16, "no part of a block was shared"
    tokens = [token for update in updates for token in update.token_ids]
    return tokens, [report.logprob for update in updates for report in update.logprobs or []]


@pytest.mark.parametrize("dtype", ONEDNN_BOUND)
@pytest.mark.parametrize("architecture", ["llama", "qwen3", "gemma3"])
def test_seeded_tokens_are_the_same_in_any_company(tiny_model, architecture, dtype):
    path = tiny_model(architecture)
    source = random.Random(1)

    def prompt(longest: int) -> list[int]:
        return [source.randrange(5, 500) for _ in range(source.randrange(2, longest))]

    own = prompt(70) + [9] * 20
    company = [seeded(str(number), prompt(150), number) for number in range(9)]
    settings = {"dtype": dtype, "kv_dtype": dtype}
    alone = answer(InProcess(path, **settings), [seeded("own", own, 5)])
    crowded = InProcess(path, **settings)
    chunked = InProcess(path, max_batch_tokens=23, **settings)
    others = {
        "in company": answer(crowded, [*company[:4], seeded("own", own, 5), *company[4:]]),
        "after a cache hit": answer(crowded, [seeded("own", own, 5)]),
        "joining late": answer(InProcess(path, **settings), [*company, seeded("own", own, 5)], submit_every=3),
        "beside its like": answer(InProcess(path, **settings), like(own)),
        "after its like": answer(InProcess(path, **settings), like(own), submit_every=50),
        "in chunks": answer(chunked, [*company, seeded("own", own, 5)]),
    }
    bound = 0.0 if compiled_product.exists(getattr(torch, dtype)) else ONEDNN_BOUND[dtype]
    for where, (tokens, logprobs) in others.items():
        assert tokens == alone[0], where
        assert max(abs(a - b) for a, b in zip(logprobs, alone[1], strict=True)) <= bound, where
