"""A server on a slow engine, and a fast one beside it."""

import dataclasses
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="module")
def one(model: Path, launcher: Any) -> Iterator[Any]:
    with launcher(model) as server:
        yield server


NUMBERS = itertools.count()


@pytest.fixture
def two(one: Any) -> Iterator[tuple[Any, Any]]:
    """The server on a slow engine of this test's own, and a fast one beside it."""
    number = next(NUMBERS)
    slow, fast = one.another_engine(f"slow-{number}", step=0.03), one.another_engine(f"fast-{number}", step=0.003)
    one.switch(engine_addresses=[slow.address])
    yield dataclasses.replace(one, engine=slow, settings={**one.settings, "engine_addresses": [slow.address]}), fast
    one.switch()
    one.wait_ready()
    slow.stop()
    fast.stop()
