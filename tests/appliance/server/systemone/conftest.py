"""Engines of tiny random models and servers before them, one of each kind for the tests of a file."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest
from decision_stack import Engines, Stack, boot_engine, serve
from waiting import until


@pytest.fixture(scope="module")
def engines(tiny_model: Callable[..., Path]) -> Iterator[Engines]:
    """`engines("qwen3", "float32")`: one process for all tests that leave it as they found it."""
    with ExitStack() as stack:
        yield cache(lambda name, dtype: stack.enter_context(boot_engine(tiny_model(name, dtype=dtype), dtype)))


@pytest.fixture(scope="module")
def stacks(engines: Engines) -> Iterator[Callable[[str, str], Stack]]:
    """The same with a server before it, ready."""
    with ExitStack() as stack:

        @cache
        def ready(name: str, dtype: str) -> Stack:
            running = stack.enter_context(serve(engines(name, dtype)))
            until(lambda: running.http.get("/ready").status_code == 200, "ready")
            return running

        yield ready


@pytest.fixture(params=["qwen3", "llama"])
def stack(request: pytest.FixtureRequest, stacks: Callable[[str, str], Stack]) -> Stack:
    """Qwen3 is what vLLM decides with; any other architecture must do it too."""
    return stacks(request.param, "float32")


@pytest.fixture
def one(stacks: Callable[[str, str], Stack]) -> Stack:
    return stacks("qwen3", "float32")
