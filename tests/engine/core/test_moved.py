"""Requests that come with tokens another engine generated: books, limits, and what their updates tell."""

import pytest
from fake_runner import VOCAB, Bench, ask, continuation
from msgspec import structs

from appliance.engine.protocol import Request


def moved(request: Request, tokens: int) -> Request:
    return structs.replace(request, generated=continuation(request.prompt, tokens))


@pytest.mark.parametrize("tokens", [1, 7, 33])
@pytest.mark.parametrize("options", [{}, {"max_batch_tokens": 5}, {"chunked_prefill": False, "max_batch_tokens": 12}])
def test_only_what_is_new_is_told_and_max_tokens_counts_all(tokens: int, options: dict[str, int]) -> None:
    bench = Bench(**options)
    request = ask("a", [1, 2, 3], 40)
    bench.add(moved(request, tokens), ask("other", [5], 9))
    bench.run()
    assert bench.tokens("a") == continuation([1, 2, 3], 40)[tokens:]
    assert bench.tokens("other") == continuation([5], 9)
    assert bench.last("a").finish_reason == "length"
    first = bench.updates["a"][0]
    assert (first.cached_tokens, first.scheduled_at, first.first_token_at, first.preemptions) == (0, 0.0, 0.0, 0)


def test_a_token_is_found_in_the_cache_but_not_counted_as_the_prompt_s_hit() -> None:
    bench = Bench()
    prompt = list(range(20))
    bench.add(ask("before", prompt, 1))
    bench.run()
    bench.add(moved(ask("a", prompt, 30), 10))
    bench.run()
    assert bench.tokens("a") == continuation(prompt, 30)[10:]
    stats = bench.engine.stats()
    assert (stats.prefix_queries, stats.prefix_hits) == (20, 0)
    assert bench.runner.tokens_computed == 20 + 10 + 20 - 1


def test_a_moved_request_can_be_preempted_and_aborted() -> None:
    bench = Bench(num_blocks=14)
    bench.add(moved(ask("a", [1] * 16, 20), 5), moved(ask("b", [2] * 16, 20), 5), moved(ask("c", [3], 9), 1))
    bench.step()
    bench.abort("c")
    bench.run()
    assert bench.engine.stats().preemptions > 0
    for name, token in (("a", 1), ("b", 2)):
        assert bench.tokens(name) == continuation([token] * 16, 20)[5:]
    assert bench.engine.stats().free_blocks == 14


def test_prompt_logprobs_were_told_by_the_first_engine() -> None:
    bench = Bench()
    bench.add(moved(ask("a", [1, 2, 3, 4], 5, prompt_logprobs=0), 2))
    bench.run()
    assert all(update.prompt_logprobs is None for update in bench.updates["a"])
    assert bench.tokens("a") == continuation([1, 2, 3, 4], 5)[2:]


def test_end_of_sequence_waits_for_min_tokens_of_both_engines() -> None:
    prompt = [1, 2]
    after = continuation(prompt, 12)
    eos = after[4]
    assert eos not in after[:4] and eos not in after[5:10]
    bench = Bench(eos_ids=(eos,))
    bench.add(moved(ask("a", prompt, 12, min_tokens=5), 3), moved(ask("b", prompt, 10, min_tokens=6), 3))
    bench.run()
    assert (bench.tokens("a"), bench.last("a").finish_reason) == (after[3:5], "stop")
    assert (bench.tokens("b"), bench.last("b").finish_reason) == (after[3:10], "length")


@pytest.mark.parametrize(
    ("prompt", "generated", "max_tokens", "says"),
    [
        ([1] * 100, [2] * 100, 200, "prompt and generated tokens are 200, this engine takes 199"),
        ([1], [2] * 5, 5, "5 tokens are generated and max_tokens is 5: none is left"),
        ([1], [2] * 5, 1, "none is left"),
        ([1], [VOCAB], 9, f"generated names token {VOCAB}"),
        ([1], [-1], 9, "generated names token -1"),
        ([], [1], 9, "the prompt is empty"),
    ],
)
def test_what_cannot_go_on_is_refused(prompt: list[int], generated: list[int], max_tokens: int, says: str) -> None:
    bench = Bench(num_blocks=256)
    bench.add(structs.replace(ask("a", prompt, max_tokens), generated=generated))
    assert says in (bench.last("a").error or "")
    assert not bench.engine.has_work


def test_the_longest_that_can_go_on_generates_one() -> None:
    bench = Bench()
    bench.add(moved(ask("a", [1] * 100, 200), 99))
    bench.run()
    assert bench.tokens("a") == continuation([1] * 100, 100)[99:]


def test_a_prompt_too_long_for_a_whole_step_here_goes_on_in_pieces() -> None:
    bench = Bench(chunked_prefill=False, max_batch_tokens=16, num_blocks=256)
    request = ask("a", [1] * 40, 5)
    bench.add(request)
    assert "40 tokens, this engine takes 16" in (bench.last("a").error or "")
    bench.add(structs.replace(moved(request, 1), request_id="b"))
    bench.run()
    assert bench.tokens("b") == continuation([1] * 40, 5)[1:]
