"""New settings between two steps: nothing is lost, kept blocks stay, what cannot hold is refused whole."""

import re
from typing import Any

import pytest
from fake_runner import Bench, ask, continuation

LONG = [1] * 40


def running(bench: Bench) -> int:
    return bench.engine.stats().running


def test_more_sequences_run_at_once_from_the_next_step_on() -> None:
    bench = Bench(max_sequences=2)
    bench.add(*[ask(f"r{index}", [index], 20) for index in range(6)])
    bench.step()
    assert (running(bench), bench.engine.stats().free_slots) == (2, 0)
    bench.reconfigure(max_sequences=5)
    bench.step()
    assert running(bench) == 5
    bench.run()
    assert all(bench.tokens(f"r{index}") == continuation([index], 20) for index in range(6))
    assert bench.engine.stats().free_slots == 5


@pytest.mark.parametrize("settings", [{"max_sequences": 3}, {"max_batch_tokens": 3}])
def test_those_above_a_lowered_limit_finish_without_a_pause(settings: dict[str, Any]) -> None:
    bench = Bench(max_sequences=8)
    bench.add(*[ask(f"r{index}", [index], 10 + index) for index in range(10)])
    bench.step()
    bench.reconfigure(**settings)
    for step in range(9):
        assert len(bench.step()) == 8, f"step {step}"
    bench.add(ask("late", [50], 3))
    while bench.engine.stats().waiting:
        bench.step()
        assert running(bench) <= 8
    bench.run()
    assert bench.engine.stats().preemptions == 0
    assert all(bench.tokens(f"r{index}") == continuation([index], 10 + index) for index in range(10))
    assert bench.tokens("late") == continuation([50], 3)
    assert bench.engine.stats().free_slots == settings.get("max_sequences", 8)


def test_a_lowered_budget_holds_once_its_decodes_are_few_enough() -> None:
    bench = Bench(max_sequences=8, num_blocks=256)
    bench.add(*[ask(f"r{index}", [index], 5 + 30 * (index % 2)) for index in range(8)])
    bench.step()
    bench.add(ask("long", LONG, 3))
    bench.step()
    bench.reconfigure(max_batch_tokens=5)
    sizes = []
    while bench.engine.has_work:
        sizes.append(sum(share.num_tokens for share in bench.step()))
    assert sizes[0] == 8 and set(sizes[5:]) - {0} <= {1, 2, 3, 4, 5}
    assert bench.tokens("long") == continuation(LONG, 3)


def test_a_shorter_context_is_for_new_requests() -> None:
    bench = Bench(max_sequences=1, num_blocks=256)
    bench.add(ask("running", [1] * 20, 100), ask("waiting", [2] * 90, 20))
    bench.step()
    bench.reconfigure(max_context=50)
    bench.add(ask("late", [3] * 60, 2), ask("shorter", [4] * 40, 100))
    assert "60 tokens, this engine takes 49" in (bench.last("late").error or "")
    bench.run()
    assert bench.tokens("running") == continuation([1] * 20, 100)
    assert bench.tokens("waiting") == continuation([2] * 90, 20)
    assert bench.tokens("shorter") == continuation([4] * 40, 10)
    bench.reconfigure(max_context=200)
    bench.add(ask("again", [3] * 60, 2))
    bench.run()
    assert bench.tokens("again") == continuation([3] * 60, 2)


def test_the_prefix_cache_outlives_other_settings() -> None:
    bench = Bench()
    bench.add(ask("a", LONG, 1))
    bench.run()
    bench.reconfigure(max_sequences=3, max_batch_tokens=16, max_context=150, chunked_prefill=True)
    bench.add(ask("b", [*LONG, 7], 1))
    bench.run()
    assert bench.last("b").cached_tokens == 40
    assert bench.engine.stats().prefix_hits == 40


def test_a_cache_switched_off_forgets_and_starts_anew() -> None:
    bench = Bench(num_blocks=128)
    bench.add(ask("idle", LONG, 1))
    bench.run()
    bench.add(ask("running", [2] * 21, 30))
    bench.step()
    bench.reconfigure(prefix_caching=False)
    bench.add(ask("b", [*LONG, 7], 1), ask("c", [2] * 22, 1))
    bench.run()
    assert [bench.updates[name][0].cached_tokens for name in "bc"] == [0, 0]
    assert bench.engine.stats().cached_blocks == 0
    assert bench.tokens("running") == continuation([2] * 21, 30)
    bench.reconfigure(prefix_caching=True)
    for name in "de":
        bench.add(ask(name, [*LONG, 7], 1))
        bench.run()
    assert [bench.last(name).cached_tokens for name in "de"] == [0, 40]


def test_a_cache_switched_on_under_load_takes_what_is_computed() -> None:
    bench = Bench(prefix_caching=False)
    bench.add(ask("a", LONG, 30))
    bench.step()
    bench.step()
    bench.reconfigure(prefix_caching=True)
    bench.step()
    bench.add(ask("b", [*LONG, 7], 4))
    bench.run()
    assert bench.updates["b"][0].cached_tokens == 40
    assert bench.tokens("a") == continuation(LONG, 30) and bench.tokens("b") == continuation([*LONG, 7], 4)


def test_chunks_may_end_while_some_are_half_way() -> None:
    bench = Bench(max_batch_tokens=8, max_sequences=4)
    bench.add(ask("a", LONG, 5), ask("b", [2] * 6, 40), ask("c", [3] * 40, 2))
    bench.step()
    bench.reconfigure(chunked_prefill=False)
    bench.add(ask("d", [4] * 9, 2), ask("e", [4] * 8, 2))
    assert "9 tokens, this engine takes 8" in (bench.last("d").error or "")
    bench.run()
    for name, prompt, count in (("a", LONG, 5), ("b", [2] * 6, 40), ("c", [3] * 40, 2), ("e", [4] * 8, 2)):
        assert bench.tokens(name) == continuation(prompt, count)


def test_an_engine_takes_as_many_sequences_as_a_number_can_say() -> None:
    bench = Bench(num_blocks=256)
    bench.reconfigure(max_sequences=2**31 - 1, max_batch_tokens=2**31 - 1, max_context=2**31 - 1)
    bench.add(*[ask(f"r{index}", [index], 3) for index in range(60)])
    bench.step()
    assert running(bench) == 60
    bench.run()


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"max_sequences": 0}, "max_sequences is 0, not a whole number from 1 to 2147483647"),
        ({"max_sequences": -3}, "max_sequences is -3"),
        ({"max_sequences": 2**40}, "max_sequences is 1099511627776"),
        ({"max_batch_tokens": True}, "max_batch_tokens is True"),
        ({"max_context": "512"}, "max_context is '512'"),
        ({"max_context": 3.5}, "max_context is 3.5"),
        ({"prefix_caching": 1}, "prefix_caching is 1, not true or false"),
        ({"chunked_prefill": "no"}, "chunked_prefill is 'no', not true or false"),
        ({"log_level": "loud"}, "log_level is 'loud', not one of debug, info, warning, error"),
        ({"log_format": True}, "log_format is True"),
        ({"num_blocks": 9}, "num_blocks needs a new engine"),
        ({"model_path": "/elsewhere"}, "model_path needs a new engine"),
        ({"nonsense": 1}, "nonsense is no setting of an engine"),
        ({"__class__": 1}, "__class__ is no setting of an engine"),
        (
            {"chunked_prefill": False, "max_batch_tokens": 7},
            "max_batch_tokens 7 is less than max_sequences 8, which only chunked_prefill allows",
        ),
        ({"max_context": 0, "dtype": "float16"}, "max_context is 0"),
        ({"max_context": 0, "dtype": "float16"}, "dtype needs a new engine"),
    ],
)
def test_what_cannot_hold_is_refused_and_nothing_changes(settings: dict[str, Any], says: str) -> None:
    bench = Bench()
    bench.add(ask("a", LONG, 5))
    bench.step()
    before = bench.engine.config
    with pytest.raises(ValueError, match=re.escape(says)):
        bench.engine.reconfigure({"max_sequences": 8, "log_level": "debug", **settings})
    assert bench.engine.config == before
    bench.run()
    assert bench.tokens("a") == continuation(LONG, 5)
    assert bench.engine.stats().free_slots == 8


def test_no_settings_change_nothing() -> None:
    bench = Bench()
    before = bench.engine.config
    bench.reconfigure()
    assert bench.engine.config == before
