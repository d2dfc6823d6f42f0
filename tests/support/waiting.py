"""Waiting for something that another process or thread brings about."""

import time
from collections.abc import Callable
from typing import TypeVar

import httpx

Found = TypeVar("Found")


def until(fact: Callable[[], Found], what: str = "it comes about", seconds: float = 30.0) -> Found:
    """What `fact()` gave when it held; an exception of httpx counts as not yet. AssertionError after `seconds`."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            if value := fact():
                return value
        except httpx.HTTPError:
            pass
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.02)
