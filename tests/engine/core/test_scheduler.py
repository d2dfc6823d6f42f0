"""Who runs when: budget, fairness, preemption, refusals, aborts."""

import pytest
from fake_runner import EOS, VOCAB, Bench, ask, continuation


def shares(ran):
    """(slot, tokens) of one step."""
    return [(share.slot, share.num_tokens) for share in ran]


def test_a_request_alone_gives_the_runner_s_tokens() -> None:
    bench = Bench()
    bench.add(ask("a", [1, 2, 3, 4, 5], 9))
    bench.run()
    assert bench.tokens("a") == continuation([1, 2, 3, 4, 5], 9)
    assert bench.last("a").finish_reason == "length"
    assert bench.engine.stats().free_slots == 8
    assert bench.engine.stats().free_blocks == 64


def test_prompts_longer_than_the_budget_run_in_chunks() -> None:
    bench = Bench(max_batch_tokens=8)
    bench.add(ask("a", list(range(21)), 2))
    bench.run()
    assert [shares(step) for step in bench.runner.steps] == [[(0, 8)], [(0, 8)], [(0, 5)], [(0, 1)]]
    assert [share.samples for step in bench.runner.steps for share in step] == [False, False, True, True]


def test_decodes_come_first_and_take_part_in_every_step() -> None:
    bench = Bench(max_batch_tokens=16)
    bench.add(ask("short", [1, 2, 3], 30))
    bench.step()
    bench.add(ask("huge", list(range(90)) + [1] * 60, 2))
    while bench.updates.get("huge") is None:
        ran = bench.step()
        assert ran[0].slot == 0 and ran[0].num_tokens == 1
        assert sum(share.num_tokens for share in ran) == 16 or bench.updates.get("huge")
    bench.run()
    assert bench.tokens("short") == continuation([1, 2, 3], 30)


def test_a_huge_prompt_leaves_half_of_the_budget_to_those_behind_it() -> None:
    bench = Bench(max_batch_tokens=16, prefix_caching=False)
    bench.add(ask("huge", list(range(96)) + list(range(90)), 1), ask("small", [5] * 8, 1), ask("tiny", [6] * 4, 1))
    assert shares(bench.step()) == [(0, 8), (1, 8)]
    assert shares(bench.step()) == [(0, 12), (1, 4)]
    assert bench.last("small").finish_reason == "length" and bench.last("tiny").finish_reason == "length"
    assert shares(bench.step()) == [(0, 16)], "alone it takes all"
    bench.run()


def test_several_huge_prompts_all_advance() -> None:
    bench = Bench(max_batch_tokens=32, num_blocks=256)
    bench.add(*[ask(f"h{index}", [index] * 150, 1) for index in range(3)])
    assert [tokens for _, tokens in shares(bench.step())] == [16, 8, 8]


def test_tokens_nobody_wants_go_back_to_the_capped_prompt() -> None:
    bench = Bench(max_batch_tokens=16)
    prompt = [index % 90 for index in range(60)]
    bench.add(ask("first", prompt, 1), ask("same", [*prompt, 1], 1))
    assert shares(bench.step()) == [(0, 16)], "the second waits for the blocks of the first"


def test_first_come_first_served_within_a_priority() -> None:
    bench = Bench(max_sequences=1)
    bench.add(ask("a", [1], 1), ask("late", [2], 1, priority=5), ask("urgent", [3], 1, priority=-1), ask("b", [4], 1))
    bench.run()
    assert list(bench.updates) == ["urgent", "a", "b", "late"]


def test_a_request_at_the_head_without_room_is_not_overtaken_for_ever() -> None:
    bench = Bench(num_blocks=16, prefix_caching=False)
    bench.add(ask("running", [1] * 20, 12))
    bench.step()
    bench.add(ask("big", [2] * 56, 1))
    for index in range(30):
        bench.add(ask(f"small{index}", [3], 1))
    bench.run()
    assert bench.updates["big"][0].scheduled_at <= bench.updates["small0"][0].scheduled_at


def test_slots_bound_the_running_requests() -> None:
    bench = Bench(max_sequences=2)
    bench.add(*[ask(f"r{index}", [index], 3) for index in range(5)])
    while bench.engine.has_work:
        assert len(bench.step()) <= 2
    assert all(bench.tokens(f"r{index}") == continuation([index], 3) for index in range(5))


def test_more_slots_than_budget_starves_no_decode() -> None:
    bench = Bench(max_sequences=8, max_batch_tokens=3)
    bench.add(*[ask(f"r{index}", [index] * 5, 6) for index in range(8)])
    bench.run()
    assert all(bench.tokens(f"r{index}") == continuation([index] * 5, 6) for index in range(8))


@pytest.mark.parametrize("caching", [True, False])
def test_preempted_requests_finish_with_the_same_tokens(caching: bool) -> None:
    bench = Bench(num_blocks=12, prefix_caching=caching)
    prompts = {f"r{index}": [index] * 9 for index in range(4)}
    bench.add(*[ask(name, prompt, 25) for name, prompt in prompts.items()])
    bench.run()
    for name, prompt in prompts.items():
        assert bench.tokens(name) == continuation(prompt, 25)
    assert bench.engine.stats().preemptions > 0
    assert bench.last("r0").preemptions == 0, "the first to come is the last to be preempted"
    assert bench.last("r3").preemptions > 0


def test_the_lowest_priority_is_preempted() -> None:
    bench = Bench(num_blocks=8, prefix_caching=False)
    bench.add(ask("unimportant", [1] * 7, 20, priority=9), ask("important", [2] * 7, 20))
    bench.run()
    assert bench.last("important").preemptions == 0
    assert bench.last("unimportant").preemptions > 0
    assert bench.tokens("unimportant") == continuation([1] * 7, 20)


def test_a_lone_request_ends_where_the_pool_ends() -> None:
    bench = Bench(num_blocks=5)
    bench.add(ask("a", [1] * 10, 100))
    bench.run()
    assert len(bench.tokens("a")) == 10
    assert bench.last("a").finish_reason == "length"


def test_a_prefill_may_preempt_a_decode_that_is_already_in_the_step() -> None:
    bench = Bench(num_blocks=16, max_batch_tokens=4, prefix_caching=False)
    bench.add(ask("unimportant", [1] * 3, 40, priority=9))
    bench.step()
    bench.add(ask("important", [2] * 48, 2))
    bench.run()
    assert bench.last("unimportant").preemptions > 0
    assert bench.last("important").preemptions == 0
    assert bench.tokens("unimportant") == continuation([1] * 3, 40)
    assert bench.tokens("important") == continuation([2] * 48, 2)


def test_prompts_that_do_not_fit_together_are_not_admitted_together() -> None:
    bench = Bench(num_blocks=16, max_batch_tokens=8, prefix_caching=False)
    bench.add(ask("a", [1] * 50, 2), ask("b", [2] * 50, 2))
    bench.run()
    assert bench.engine.stats().preemptions == 0


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


def test_without_chunked_prefill_prompts_run_whole() -> None:
    bench = Bench(chunked_prefill=False, max_batch_tokens=16)
    bench.add(ask("a", [1] * 10, 2), ask("b", [2] * 10, 2), ask("too long", [3] * 17, 2))
    assert "takes 16" in (bench.last("too long").error or "")
    assert shares(bench.step()) == [(0, 10)]
    assert shares(bench.step()) == [(0, 1), (1, 10)]
    bench.run()
    assert bench.tokens("b") == continuation([2] * 10, 2)


def test_without_chunked_prefill_a_preempted_request_comes_back() -> None:
    bench = Bench(chunked_prefill=False, max_batch_tokens=12, num_blocks=8, prefix_caching=False)
    bench.add(ask("a", [1] * 10, 20), ask("b", [2] * 10, 20))
    bench.run()
    assert bench.last("b").preemptions > 0
    assert bench.tokens("b") == continuation([2] * 10, 20)


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
