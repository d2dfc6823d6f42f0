"""What is computed once: cached prefixes, prefixes of one step, prefixes under way."""

import pytest
from fake_runner import Bench, ask, continuation
from msgspec.structs import replace

STATE = [index % 90 for index in range(300)]


def questions(count: int) -> list:
    return [ask(f"q{index}", STATE + [index] * (5 + index), 1) for index in range(count)]


def check(bench: Bench, count: int) -> None:
    for index in range(count):
        assert bench.tokens(f"q{index}") == continuation(STATE + [index] * (5 + index), 1)


def test_seven_questions_about_one_state_are_one_step() -> None:
    bench = Bench(block_tokens=16, num_blocks=100, max_context=1000, max_batch_tokens=512)
    bench.add(*questions(7))
    bench.run()
    check(bench, 7)
    shared = 300 // 16 * 16
    own = sum(300 + 5 + index - shared for index in range(7))
    assert len(bench.runner.steps) == 1
    assert bench.runner.tokens_computed == shared + own
    assert [bench.last(f"q{index}").cached_tokens for index in range(7)] == [0] + [shared] * 6
    assert bench.engine.stats().prefix_hits == 6 * shared


@pytest.mark.parametrize("budget", [300, 305, 350, 512])
def test_questions_of_one_call_share_to_the_token(budget: int) -> None:
    """Also when those of the next step take from one that has ended."""
    bench = Bench(block_tokens=16, num_blocks=100, max_context=1000, max_batch_tokens=budget)
    calls = [[replace(ask, group=group) for ask in questions(7)] for group in ("one", "two")]
    bench.add(*calls[0])
    bench.run()
    check(bench, 7)
    assert [bench.last(f"q{index}").cached_tokens for index in range(1, 7)] == [300] * 6
    assert bench.runner.tokens_computed == 305 + sum(5 + index for index in range(1, 7))
    bench.updates.clear()
    bench.add(replace(calls[1][0], request_id="q9", prompt=[*STATE, 89, 89]))
    bench.run()
    assert bench.last("q9").cached_tokens == 288, "another call learns nothing of a block's parts"


def test_a_whole_block_alike_is_computed_from_the_last_token_on() -> None:
    bench = Bench(block_tokens=16, num_blocks=100)
    bench.add(ask("a", [5] * 17, 1, group="g"), ask("b", [5] * 16, 1, group="g"))
    bench.run()
    assert bench.last("b").cached_tokens == 15
    assert bench.tokens("b") == continuation([5] * 16, 1)


def test_without_room_for_what_is_copied_from_a_request_still_runs() -> None:
    bench = Bench(num_blocks=4)
    bench.add(ask("a", [1] * 12, 1, group="g"))
    bench.run()
    bench.add(ask("b", [1] * 9 + [2] * 6, 1, group="g"))
    bench.run()
    assert bench.tokens("b") == continuation([1] * 9 + [2] * 6, 1)


@pytest.mark.parametrize("budget", [17, 32, 64, 100, 299])
def test_a_state_longer_than_the_budget_is_computed_once(budget: int) -> None:
    bench = Bench(block_tokens=16, num_blocks=100, max_context=1000, max_batch_tokens=budget)
    bench.add(*questions(7))
    bench.run()
    check(bench, 7)
    shared = 300 // 16 * 16
    assert bench.runner.tokens_computed == shared + sum(300 + 5 + index - shared for index in range(7))
    assert len(bench.runner.steps) <= -(-bench.runner.tokens_computed // budget) + 2


def test_others_run_while_some_wait_for_a_prefix() -> None:
    bench = Bench(block_tokens=16, num_blocks=100, max_context=1000, max_batch_tokens=64)
    bench.add(*questions(2), ask("other", [7] * 20, 1))
    bench.step()
    assert bench.last("other").finish_reason == "length"


def test_those_who_wait_go_on_when_the_first_is_aborted() -> None:
    bench = Bench(block_tokens=16, num_blocks=100, max_context=1000, max_batch_tokens=64)
    bench.add(*questions(3))
    bench.step()
    bench.abort("q0")
    bench.run()
    assert bench.last("q1").cached_tokens == 64
    assert bench.last("q2").cached_tokens == 288


def test_a_finished_prompt_is_found_again_but_for_its_last_token() -> None:
    bench = Bench()
    bench.add(ask("a", list(range(16)), 1))
    bench.run()
    bench.add(ask("b", list(range(16)), 5), ask("c", [*range(16), 50], 5))
    bench.run()
    assert bench.updates["b"][0].cached_tokens == 12, "the last token is computed for its logits"
    assert bench.updates["c"][0].cached_tokens == 16
    assert bench.tokens("b") == continuation(list(range(16)), 5)


def test_generated_tokens_are_found_too() -> None:
    bench = Bench()
    bench.add(ask("a", [1, 2], 20))
    bench.run()
    chat = [1, 2, *bench.tokens("a"), 9, 9]
    bench.add(ask("b", chat, 1))
    bench.run()
    assert bench.last("b").cached_tokens == 20, "the last generated token never had its KV computed"


def test_salts_share_only_among_themselves() -> None:
    bench = Bench()
    prompt = list(range(17))
    for name, salt in (("plain", None), ("s1", "x"), ("s2", "x"), ("s3", "y"), ("empty", ""), ("again", None)):
        bench.add(ask(name, prompt, 1, salt=salt))
        bench.run()
    found = {name: updates[0].cached_tokens for name, updates in bench.updates.items()}
    assert found == {"plain": 0, "s1": 0, "s2": 16, "s3": 0, "empty": 0, "again": 16}


def test_a_block_counts_only_behind_the_same_blocks() -> None:
    bench = Bench()
    bench.add(ask("a", [1, 1, 1, 1, 2, 2, 2, 2, 0], 1), ask("b", [3, 3, 3, 3, 4, 4, 4, 4, 0], 1))
    bench.run()
    bench.add(ask("mixed", [1, 1, 1, 1, 4, 4, 4, 4, 0], 5))
    bench.run()
    assert bench.updates["mixed"][0].cached_tokens == 4
    assert bench.tokens("mixed") == continuation([1, 1, 1, 1, 4, 4, 4, 4, 0], 5)


def test_prefix_caching_can_be_off() -> None:
    bench = Bench(prefix_caching=False, max_batch_tokens=64)
    bench.add(*[ask(f"r{index}", list(range(20)), 1) for index in range(3)])
    bench.run()
    assert bench.runner.tokens_computed == 60
    assert bench.engine.stats().prefix_queries == 0


def test_the_least_recently_used_prefix_goes_first() -> None:
    bench = Bench(num_blocks=8)
    bench.add(ask("a", [1] * 12, 1))
    bench.run()
    bench.add(ask("b", [2] * 12, 1))
    bench.run()
    bench.add(ask("a again", [1] * 12 + [1], 1))
    bench.run()
    bench.add(ask("c", [3] * 12, 1))
    bench.run()
    bench.add(ask("a third", [1] * 12 + [1], 1))
    bench.run()
    assert bench.last("a again").cached_tokens == 12
    assert bench.last("a third").cached_tokens == 12


def test_reset_forgets_what_nobody_holds() -> None:
    bench = Bench()
    bench.add(ask("a", [1] * 12, 1))
    bench.run()
    bench.add(ask("running", [2] * 12, 9))
    bench.step()
    bench.engine.reset_prefix_cache()
    bench.engine.check_integrity()
    bench.add(ask("b", [1] * 13, 1), ask("c", [2] * 13, 1))
    bench.run()
    assert bench.last("b").cached_tokens == 0
    assert bench.last("c").cached_tokens == 12


def test_a_preempted_request_finds_its_own_blocks_again() -> None:
    bench = Bench(num_blocks=12)
    bench.add(ask("a", [1] * 16, 20), ask("b", [2] * 16, 20))
    bench.run()
    assert bench.last("b").preemptions == 1
    recomputed = bench.runner.tokens_computed - (16 + 19) * 2
    assert recomputed < 16 + 19
    assert bench.tokens("b") == continuation([2] * 16, 20)
