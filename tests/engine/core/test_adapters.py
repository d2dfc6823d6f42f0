"""Adapters come and go in a running engine: who gets which weights, and when they are dropped."""

import pytest
from fake_runner import Bench, ask, continuation

from appliance.engine.checkpoint.errors import CheckpointError

PROMPT = list(range(20))


def test_a_batch_mixes_adapters_and_the_base_model() -> None:
    bench = Bench(num_blocks=256)
    for name in ("x", "y"):
        bench.engine.adapters.load(name, f"weights of {name}")
    bench.add(ask("a", PROMPT, 9, adapter="x"), ask("b", PROMPT, 9, adapter="y"), ask("c", PROMPT, 9))
    bench.run()
    assert bench.tokens("a") == continuation(PROMPT, 9, "weights of x")
    assert bench.tokens("b") == continuation(PROMPT, 9, "weights of y")
    assert bench.tokens("c") == continuation(PROMPT, 9)
    assert [bench.updates[name][0].cached_tokens for name in "abc"] == [0, 0, 0]


def test_prefixes_are_found_again_under_the_same_weights_only() -> None:
    bench = Bench()
    for name, folder in (("x", "one"), ("same", "one"), ("y", "two")):
        bench.engine.adapters.load(name, folder)
    found = []
    for adapter in ("x", "x", "y", None, None, "same"):
        bench.add(ask(f"r{len(found)}", PROMPT, 1, adapter=adapter))
        bench.run()
        found.append(bench.last(f"r{len(found)}").cached_tokens)
    assert found == [0, 16, 0, 0, 16, 16]


def test_salts_hold_among_requests_of_one_adapter() -> None:
    bench = Bench()
    bench.engine.adapters.load("x", "one")
    for name, salt in (("a", "s"), ("b", None), ("c", "t"), ("d", "s")):
        bench.add(ask(name, PROMPT, 1, adapter="x", salt=salt))
        bench.run()
    assert [bench.last(name).cached_tokens for name in "abcd"] == [0, 0, 0, 16]


def test_an_adapter_stays_until_its_last_request_has_ended() -> None:
    bench = Bench(max_sequences=2)
    bench.engine.adapters.load("x", "one")
    bench.add(*[ask(f"r{index}", [index], 5 + index, adapter="x") for index in range(4)], ask("base", [9], 30))
    bench.step()
    key = bench.engine.adapters.unload("x")
    bench.add(ask("late", [1], 3, adapter="x"))
    assert bench.last("late").error == "no adapter 'x' is loaded"
    while "r3" not in bench.updates or bench.last("r3").finish_reason is None:
        assert bench.engine.adapters.take_gone() == [] and bench.runner.adapters
        bench.step()
    assert bench.engine.adapters.take_gone() == [key] and not bench.runner.adapters
    for index in range(4):
        assert bench.tokens(f"r{index}") == continuation([index], 5 + index, "one")
    bench.run()
    assert bench.tokens("base") == continuation([9], 30)


def test_an_unused_adapter_goes_at_once_and_an_abort_ends_a_use() -> None:
    bench = Bench()
    bench.engine.adapters.load("x", "one")
    bench.engine.adapters.load("y", "two")
    bench.add(ask("a", [1], 50, adapter="x"))
    bench.step()
    kept = bench.engine.adapters.unload("x")
    assert bench.engine.adapters.take_gone() == []
    gone = bench.engine.adapters.unload("y")
    assert bench.engine.adapters.take_gone() == [gone]
    bench.abort("a")
    assert bench.engine.adapters.take_gone() == [kept] and not bench.runner.adapters
    with pytest.raises(KeyError):
        bench.engine.adapters.unload("x")


def test_a_name_may_change_its_weights_under_load() -> None:
    bench = Bench()
    bench.engine.adapters.load("x", "one")
    bench.add(ask("old", PROMPT, 20, adapter="x"))
    bench.step()
    bench.engine.adapters.load("x", "two")
    bench.add(ask("new", PROMPT, 20, adapter="x"))
    bench.run()
    assert bench.tokens("old") == continuation(PROMPT, 20, "one")
    assert bench.tokens("new") == continuation(PROMPT, 20, "two")
    assert list(bench.runner.adapters.values()) == ["two"]


def test_an_adapter_that_cannot_be_loaded_leaves_the_one_before() -> None:
    bench = Bench()
    bench.engine.adapters.load("x", "one")
    with pytest.raises(CheckpointError, match="no adapter of this model"):
        bench.engine.adapters.load("x", "broken")
    bench.add(ask("a", [1], 5, adapter="x"))
    bench.run()
    assert bench.tokens("a") == continuation([1], 5, "one")


def test_preempted_and_failed_requests_count_right() -> None:
    bench = Bench(num_blocks=12)
    bench.engine.adapters.load("x", "one")
    bench.add(ask("a", [1] * 16, 20, adapter="x"), ask("b", [2] * 16, 20, adapter="x"))
    bench.engine.adapters.unload("x")
    bench.run()
    assert bench.engine.stats().preemptions == 1
    assert bench.tokens("b") == continuation([2] * 16, 20, "one")
    assert not bench.runner.adapters
    bench.engine.adapters.load("x", "one")
    bench.add(ask("c", [3], 5, adapter="x"))
    bench.engine.adapters.unload("x")
    bench.runner.fail_next = 1
    bench.step()
    assert "the fake was told to fail" in (bench.last("c").error or "")
    assert not bench.runner.adapters
