"""Fake vLLM processes and the API server before them."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from bare_model import bare_model
from proxied import SECONDS, FakeVllm, Proxy, make_proxy
from waiting import until


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Read by planners; a fake vLLM loads nothing."""
    return bare_model(tmp_path_factory.mktemp("model"))


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as opened:
        yield opened


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[FakeVllm, Proxy]]:
    fake = FakeVllm(tmp_path_factory.mktemp("shared"), "v")
    with ExitStack() as stack:
        stack.callback(fake.stop)
        yield fake, make_proxy(stack, fake.start())


@pytest.fixture
def server(shared: tuple[FakeVllm, Proxy]) -> Iterator[Proxy]:
    """One for the tests of a module that it survives; each begins with the plain state."""
    with httpx.Client(base_url=shared[1].url, timeout=SECONDS) as shared[1].http:
        yield shared[1]
        shared[1].become()


@pytest.fixture
def fake(shared: tuple[FakeVllm, Proxy]) -> FakeVllm:
    """The vLLM behind `server`, which has seen nothing and has no adapter."""
    until(lambda: not shared[0].ask()["adapters"], "those of the test before are gone")
    shared[0].tell("forget")
    return shared[0]


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
