"""A server that leaves, because the port changed, still answers from an engine that is replaced."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest
from faked import Faked, faked
from walk import free_port

OTHER = "32"
"""Size of a block, so that the engine is a new one."""


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Faked]:
    with faked(tmp_path_factory.mktemp("ports"), drain="30s") as made:
        yield made


@pytest.fixture
def calm(shared: Faked) -> Faked:
    shared.edit(drain="30s")
    return shared


@contextmanager
def answering(made: Faked, seconds: float) -> Iterator[list[int]]:
    """The status of a call that was begun before and ends after what is done meanwhile."""
    statuses: list[int] = []
    address = f"{made.up.base_url}/busy?{seconds}"
    call = threading.Thread(target=lambda: statuses.append(httpx.get(address, timeout=60).status_code))
    call.start()
    try:
        yield statuses
    finally:
        call.join()


def bind() -> str:
    return f"127.0.0.1:{free_port()}"


def test_a_new_port_and_a_new_engine_at_once(calm: Faked) -> None:
    with answering(calm, 3.0) as statuses:
        assert "applied" in calm.edit(drain="30s", bind=bind(), strategy="surge", block=OTHER)
    assert statuses == [200]
    assert calm.get("/work").status_code == 200


@pytest.mark.parametrize("strategy", ["surge", "drain"])
def test_a_new_engine_after_a_new_port(calm: Faked, strategy: str) -> None:
    new = bind()
    with answering(calm, 3.0) as statuses:
        assert "applied" in calm.edit(drain="30s", bind=new)
        assert "applied" in calm.edit(drain="30s", bind=new, strategy=strategy, block=OTHER)
    assert statuses == [200]
    assert calm.get("/work").status_code == 200
