"""How requests end: refusals, aborts, failed steps, stop tokens, contexts, and what their updates say."""

import pytest
from fake_runner import EOS, VOCAB, Bench, ask, continuation


@pytest.mark.parametrize(
    ("request_", "says"),
    [
        (ask("a", [1] * 200), "200 tokens, this engine takes 199"),
        (ask("a", []), "empty"),
        (ask("a", [1, VOCAB]), f"token {VOCAB}"),
        (ask("a", [-1]), "token -1"),
        (ask("a", [1], 0), "max_tokens is 0"),
        (ask("a", [1], logit_bias={VOCAB: 1.0}), "logit_bias"),
        (ask("a", [1], logprob_token_ids=(1, 1 << 40)), "logprob_token_ids"),
        (ask("a", [1], stop_token_ids=(-5,)), "stop_token_ids"),
    ],
)
def test_what_can_never_run_is_refused(request_, says: str) -> None:
    bench = Bench()
    bench.add(request_)
    assert says in (bench.last("a").error or "")
    assert bench.last("a").finish_reason == "error"
    assert not bench.engine.has_work


def test_a_prompt_beyond_the_pool_is_refused_not_looped() -> None:
    bench = Bench(num_blocks=10)
    bench.add(ask("fits", [1] * 39, 5), ask("never", [1] * 40, 5))
    assert "takes 39" in (bench.last("never").error or "")
    bench.run()
    assert bench.last("fits").finish_reason == "length"


def test_a_second_request_of_the_same_id_is_refused() -> None:
    bench = Bench()
    bench.engine.add(b"server", [ask("a", [1], 3)])
    (refused,) = bench.engine.add(b"server", [ask("a", [2], 3)])
    assert "of this id" in (refused.error or "")
    assert bench.engine.add(b"another server", [ask("a", [2], 3)]) == []


@pytest.mark.parametrize("steps", range(6))
def test_abort_frees_slot_and_blocks_at_once(steps: int) -> None:
    bench = Bench(max_batch_tokens=8, prefix_caching=False)
    bench.add(ask("a", [1] * 20, 50), ask("b", [2] * 20, 3))
    for _ in range(steps):
        bench.step()
    bench.abort("a", "a", "unknown")
    assert bench.last("a").finish_reason == "abort"
    bench.abort("b")
    stats = bench.engine.stats()
    assert (stats.free_slots, stats.free_blocks, stats.running, stats.waiting) == (8, 64, 0, 0)
    assert not bench.runner.slots


def test_a_server_that_goes_takes_its_requests_with_it() -> None:
    bench = Bench()
    bench.engine.add(b"gone", [ask("a", [1], 50), ask("b", [2], 50)])
    bench.add(ask("a", [3], 5))
    bench.step()
    assert bench.engine.abort_owner(b"gone") == 2
    assert bench.engine.abort_owner(b"gone") == 0
    assert bench.engine.stats().running == 1
    bench.run()
    assert bench.tokens("a") == continuation([3], 5)


def test_a_failed_step_ends_its_requests_and_poisons_nothing() -> None:
    prompt = list(range(20))
    bench = Bench(max_sequences=2)
    bench.add(ask("a", prompt, 3), ask("b", [*prompt, 1], 3), ask("waits", [*prompt, 2], 3))
    bench.runner.fail_next = 1
    bench.engine.step()
    bench.engine.check_integrity()
    bench.runner.pool = [[None] * 4 for _ in range(64)]
    bench.run()
    assert bench.tokens("waits") == continuation([*prompt, 2], 3)
    assert bench.last("waits").cached_tokens == 0


def test_stop_tokens_end_of_sequence_and_min_tokens() -> None:
    prompt = [1, 2, 3]
    tokens = continuation(prompt, 8)
    stop = tokens[3]
    bench = Bench()
    bench.add(
        ask("stop", prompt, 8, stop_token_ids=(stop,)),
        ask("min", prompt, 8, stop_token_ids=(stop,), min_tokens=6),
    )
    bench.run()
    at = tokens.index(stop)
    assert bench.tokens("stop") == tokens[: at + 1]
    assert (bench.last("stop").finish_reason, bench.last("stop").stop_token_id) == ("stop", stop)
    assert len(bench.tokens("min")) >= 6

    ends = Bench(eos_ids=(stop,))
    ends.add(
        ask("eos", prompt, 8), ask("both", prompt, 8, stop_token_ids=(stop,)), ask("on", prompt, 8, ignore_eos=True)
    )
    ends.run()
    assert ends.tokens("eos") == tokens[: at + 1]
    assert (ends.last("eos").finish_reason, ends.last("eos").stop_token_id) == ("stop", None)
    assert ends.last("both").stop_token_id is None
    assert ends.tokens("on") == tokens


def test_the_context_ends_a_request() -> None:
    bench = Bench(max_context=12)
    bench.add(ask("a", [1] * 9, 100))
    bench.run()
    assert bench.tokens("a") == continuation([1] * 9, 3)
    assert bench.last("a").finish_reason == "length"


def test_times_and_counters_stand_on_the_first_update() -> None:
    bench = Bench()
    bench.add(ask("a", [1] * 9, 3))
    bench.run()
    first, second, _ = bench.updates["a"]
    assert 0 < first.scheduled_at <= first.first_token_at
    assert second.scheduled_at == 0
    stats = bench.engine.stats()
    assert (stats.prompt_tokens, stats.generation_tokens, stats.steps) == (9, 3, 3)
    # 9 prompt tokens in the range up to 16, then one token a step
    assert (stats.step_sizes[:4], sum(stats.step_sizes), stats.step_tokens) == ([2, 0, 1, 0], 3, 11)


def test_several_tokens_a_step_stop_inside_the_list() -> None:
    prompt = [4, 5]
    bench = Bench()
    bench.runner.tokens_per_step = 3
    bench.add(ask("a", prompt, 2))
    bench.step()
    assert bench.tokens("a") == continuation(prompt, 2)
    assert bench.last("a").finish_reason == "length"


def test_prompt_logprobs_are_put_together_over_chunks() -> None:
    prompt = list(range(30))
    bench = Bench(max_batch_tokens=8)
    bench.add(ask("fill the cache", prompt, 1))
    bench.run()
    bench.add(ask("a", prompt, 3, prompt_logprobs=0))
    bench.run()
    first, *others = bench.updates["a"]
    assert first.cached_tokens == 0, "every prompt token was computed"
    assert first.prompt_logprobs is not None and first.prompt_logprobs[0] is None
    assert [entry.token_id for entry in first.prompt_logprobs[1:] if entry] == prompt[1:]
    assert all(update.prompt_logprobs is None for update in others)


def test_prompt_logprobs_survive_preemption_in_the_middle_of_the_prompt() -> None:
    bench = Bench(num_blocks=16, max_batch_tokens=2)
    bench.add(ask("decoding", [1] * 3, 45))
    bench.step()
    prompt = list(range(40))
    bench.add(ask("p", prompt, 3, prompt_logprobs=0))
    bench.run()
    assert bench.last("p").preemptions > 0
    reports = [update.prompt_logprobs for update in bench.updates["p"] if update.prompt_logprobs is not None]
    assert [[entry and entry.token_id for entry in report] for report in reports] == [[None, *prompt[1:]]]
    assert bench.tokens("p") == continuation(prompt, 3)


def test_end_of_sequence_never_comes_from_the_fake() -> None:
    assert EOS not in continuation([1], 200)
