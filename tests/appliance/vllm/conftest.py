"""Fake vLLM processes and the API server before them."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from bare_model import bare_model
from proxied import FakeVllm, Proxy, make_proxy


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Read by planners; a fake vLLM loads nothing."""
    return bare_model(tmp_path_factory.mktemp("model"))


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as opened:
        yield opened


@pytest.fixture
def vllm(tmp_path: Path, stack: ExitStack) -> Callable[..., FakeVllm]:
    """`vllm("a", "works")`, started."""

    def make(name: str = "v", mode: str = "works") -> FakeVllm:
        fake = FakeVllm(tmp_path, name)
        stack.callback(fake.stop)
        return fake.start(mode)

    return make


@pytest.fixture
def proxy(stack: ExitStack) -> Callable[..., Proxy]:
    """`proxy(fake, ..., **fields of ServerConfig)`, ready."""

    def make(*fakes: FakeVllm, **more: Any) -> Proxy:
        return make_proxy(stack, *fakes, **more)

    return make
