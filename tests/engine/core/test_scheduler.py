"""Who runs when: budget, fairness, slots, preemption, whole prompts."""

import pytest
from fake_runner import Bench, ask, continuation


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
