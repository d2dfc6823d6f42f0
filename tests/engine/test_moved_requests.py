"""A request moved to another engine goes on as if it had never left: tokens, seeds, penalties and log-probabilities."""

from pathlib import Path
from typing import Any

import pytest
from in_process import InProcess
from msgspec import structs

from appliance.engine.protocol import Request, SamplingParams

TOKENS = 48
PROMPT = [index * 7 % 480 + 5 for index in range(50)]
OTHERS = [[index * step % 480 + 5 for index in range(20 + 9 * step)] for step in (3, 5, 11)]
WAYS: dict[str, dict[str, Any]] = {
    "greedy": {"temperature": 0.0},
    "seeded": {"seed": 11, "temperature": 1.3},
    "seeded, truncated": {"seed": -5, "temperature": 0.9, "top_k": 40, "top_p": 0.8, "min_p": 0.01},
    "penalties": {
        "temperature": 0.0,
        "repetition_penalty": 1.4,
        "presence_penalty": 0.7,
        "frequency_penalty": 0.6,
        "min_tokens": 40,
    },
    "seeded penalties": {"seed": 3, "frequency_penalty": 1.1, "logit_bias": {9: 4.0, 10: -9.0}},
}


def request(name: str, prompt: list[int], **sampling: Any) -> Request:
    wanted = SamplingParams(max_tokens=TOKENS, ignore_eos=True, **sampling)
    return Request(request_id=name, prompt=prompt, sampling=wanted)


@pytest.fixture(scope="module")
def model(tiny_model) -> Path:
    return tiny_model("qwen3")


@pytest.fixture(scope="module")
def unmoved(model: Path) -> dict[str, list[int]]:
    """What an engine that is never left gives."""
    engine = InProcess(model)
    tokens = engine.tokens([request(way, PROMPT, **sampling) for way, sampling in WAYS.items()])
    assert len({tuple(got) for got in tokens.values()}) == len(WAYS)
    return tokens


@pytest.mark.parametrize("settings", [{}, {"max_batch_tokens": 13, "num_blocks": 40}, {"prefix_caching": False}])
@pytest.mark.parametrize("after", [1, 7, 33])
def test_the_tokens_are_those_of_a_request_that_stayed(
    model: Path, unmoved: dict[str, list[int]], after: int, settings: dict[str, Any]
) -> None:
    engine = InProcess(model, **settings)
    moved = [
        structs.replace(request(way, PROMPT, **sampling), generated=unmoved[way][:after])
        for way, sampling in WAYS.items()
    ]
    others = [request(f"other {index}", prompt, temperature=0.0) for index, prompt in enumerate(OTHERS)]
    got = engine.tokens([others[0], *moved, *others[1:]], submit_every=2)
    for way in WAYS:
        assert unmoved[way][:after] + got[way] == unmoved[way], way
    assert all(len(got[other.request_id]) == TOKENS for other in others)


@pytest.mark.parametrize("after", [1, 33])
def test_log_probabilities_are_those_of_the_tokens_that_are_new(model: Path, after: int) -> None:
    stays = request("a", PROMPT, temperature=0.0, logprobs=3, prompt_logprobs=1)
    before = InProcess(model).run([stays])["a"]
    tokens = [token for update in before for token in update.token_ids]
    reports = [report for update in before for report in update.logprobs or []]
    updates = InProcess(model).run([structs.replace(stays, generated=tokens[:after])])["a"]
    assert all(update.prompt_logprobs is None for update in updates)
    got = [report for update in updates for report in update.logprobs or []]
    assert [report.token_id for report in got] == tokens[after:]
    for report, wanted in zip(got, reports[after:], strict=True):
        assert (report.rank, report.ids) == (wanted.rank, wanted.ids)
        assert report.logprobs == pytest.approx(wanted.logprobs, abs=1e-4)


def test_a_request_may_move_again_and_again(model: Path, unmoved: dict[str, list[int]]) -> None:
    tokens: list[int] = []
    for stop in (5, 6, 20, TOKENS):
        going = request("a", PROMPT, **WAYS["seeded penalties"])
        sampling = structs.replace(going.sampling, max_tokens=stop)
        tokens += InProcess(model).tokens([structs.replace(going, generated=tokens, sampling=sampling)])["a"]
    assert tokens == unmoved["seeded penalties"]


def test_settings_change_under_real_load_without_a_trace(model: Path, unmoved: dict[str, list[int]]) -> None:
    engine = InProcess(model)
    asked = [request(way, PROMPT, **sampling) for way, sampling in WAYS.items()]
    changes: list[dict[str, bool | int | str]] = [
        {"max_sequences": 2},
        {"max_batch_tokens": 3},
        {"prefix_caching": False},
        {"max_sequences": 64, "max_batch_tokens": 700},
        {"chunked_prefill": False, "prefix_caching": True},
        {"max_context": 60},
    ]
    got: dict[str, list[int]] = {way: [] for way in WAYS}
    engine.engine.add(b"test", asked)
    while engine.engine.has_work:
        for update in engine.engine.step()[b"test"]:
            got[update.request_id].extend(update.token_ids)
        if changes and len(got["greedy"]) % 5 == 4:
            engine.engine.reconfigure(changes.pop(0))
            engine.engine.check_integrity()
    assert not changes
    assert got == unmoved
