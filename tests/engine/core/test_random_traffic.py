"""Random submits, moves, aborts, changes, failures and shortages of memory against the checking runner."""

import dataclasses

from fake_runner import Bench, ask, continuation
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
)
from msgspec.structs import replace

PREFIXES = [[], [1] * 4, [1] * 8, [1] * 8 + [2] * 8, [1] * 8 + [3] * 5, list(range(30))]

prompts = st.tuples(st.sampled_from(PREFIXES), st.lists(st.integers(0, 3), max_size=9)).map(
    lambda pair: pair[0] + pair[1]
)


class Traffic(RuleBasedStateMachine):
    names = Bundle("names")

    @initialize(
        blocks=st.integers(4, 40),
        sequences=st.integers(1, 6),
        budget=st.integers(1, 40),
        caching=st.booleans(),
        chunked=st.booleans(),
    )
    def boot(self, blocks: int, sequences: int, budget: int, caching: bool, chunked: bool) -> None:
        self.bench = Bench(
            num_blocks=blocks,
            max_sequences=sequences,
            max_batch_tokens=budget if chunked else max(budget, sequences),
            prefix_caching=caching,
            chunked_prefill=chunked,
            max_context=60,
        )
        self.wanted: dict[str, tuple[list[int], int, int, int, str]] = {}
        """Prompt, tokens in all, tokens that came with it, the limit and the weights under which it was taken."""
        self.aborted: set[str] = set()
        self.steps_at_failure = 0

    @rule(
        target=names,
        batch=st.lists(
            st.tuples(
                prompts,
                st.integers(1, 25),
                st.integers(-1, 1),
                st.sampled_from([None, None, "a", "b"]),
                st.sampled_from([None, None, None, 0]),
                st.sampled_from([0, 0, 0, 1, 7]),
                st.sampled_from([None, None, "x", "y"]),
                st.sampled_from(["", "g", "h"]),
            ),
            min_size=1,
            max_size=4,
        ),
    )
    def submit(self, batch: list[tuple[list[int], int, int, str | None, int | None, int, str | None, str]]):
        requests = []
        for prompt, tokens, priority, salt, prompt_logprobs, done, adapter, group in batch:
            name = f"r{len(self.wanted)}"
            loaded = self.bench.engine.adapters.by_name
            weights = loaded[adapter].folder if adapter in loaded else ""
            self.wanted[name] = (prompt, tokens + done, done, self.bench.engine.limits.max_tokens, weights)
            request = ask(name, prompt, tokens + done, salt=salt, priority=priority, prompt_logprobs=prompt_logprobs)
            requests.append(
                replace(request, adapter=adapter, group=group, generated=continuation(prompt, done, weights))
            )
        self.bench.add(*requests)
        return multiple(*[request.request_id for request in requests])

    @rule(name=consumes(names))
    def abort(self, name: str) -> None:
        self.aborted.add(name)
        self.bench.abort(name)

    @rule(count=st.integers(1, 8))
    def steps(self, count: int) -> None:
        for _ in range(count):
            busy = self.bench.engine.has_work
            assert bool(self.bench.step()) == busy

    @rule(name=st.sampled_from("xy"), folder=st.sampled_from(["one", "two"]))
    def load(self, name: str, folder: str) -> None:
        self.bench.engine.adapters.load(name, folder)

    @rule(name=st.sampled_from("xy"))
    def unload(self, name: str) -> None:
        if name in self.bench.engine.adapters.by_name:
            self.bench.engine.adapters.unload(name)

    @rule()
    def reset_cache(self) -> None:
        self.bench.engine.reset_prefix_cache()

    @rule(
        changes=st.fixed_dictionaries(
            {},
            optional={
                "max_sequences": st.integers(0, 8),
                "max_batch_tokens": st.integers(1, 40),
                "max_context": st.integers(10, 80),
                "prefix_caching": st.booleans(),
                "chunked_prefill": st.booleans(),
                "num_blocks": st.just(5),
            },
        )
    )
    def reconfigure(self, changes: dict[str, bool | int | str]) -> None:
        before = self.bench.engine.config
        try:
            self.bench.reconfigure(**changes)
        except ValueError:
            assert self.bench.engine.config == before
        else:
            assert self.bench.engine.config == dataclasses.replace(before, **changes)

    @precondition(lambda self: self.bench.engine.has_work and len(self.bench.runner.steps) > self.steps_at_failure)
    @rule()
    def fail(self) -> None:
        self.steps_at_failure = len(self.bench.runner.steps)
        self.bench.runner.fail_next = 1
        self.bench.step()

    @invariant()
    def books_balance(self) -> None:
        if hasattr(self, "bench"):
            self.bench.engine.check_integrity()

    def teardown(self) -> None:
        if not hasattr(self, "bench"):
            return
        self.bench.run()
        stats = self.bench.engine.stats()
        assert stats.free_blocks == self.bench.config.num_blocks
        assert stats.free_slots == self.bench.config.max_sequences
        assert not self.bench.runner.slots
        assert self.bench.runner.adapters.keys() == {a.key for a in self.bench.engine.adapters.by_name.values()}
        assert sum(stats.step_sizes) == stats.steps and stats.step_tokens == self.bench.runner.tokens_computed
        for name, (prompt, tokens, done, limit, weights) in self.wanted.items():
            last = self.bench.last(name)
            got = self.bench.tokens(name)
            assert got == continuation(prompt, done + len(got), weights)[done:] if prompt else not got
            for report in [update.prompt_logprobs for update in self.bench.updates[name] if update.prompt_logprobs]:
                assert [entry and entry.token_id for entry in report] == [None, *prompt[1:]]
            if last.finish_reason == "length":
                assert done + len(got) == min(tokens, limit - len(prompt))
            elif last.finish_reason == "abort":
                assert name in self.aborted
            else:
                assert last.finish_reason == "error" and last.error


TestTraffic = Traffic.TestCase
TestTraffic.settings = settings(max_examples=100, stateful_step_count=30, deadline=None, database=None)
