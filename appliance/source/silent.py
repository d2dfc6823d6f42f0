"""Progress for callers that show none."""

from collections.abc import Iterator
from contextlib import contextmanager

from appliance.source.base import Meter


class _NoMeter:
    def update(self, done: int, total: int | None) -> None:
        pass


class Silent:
    def note(self, text: str) -> None:
        pass

    @contextmanager
    def meter(self, label: str) -> Iterator[Meter]:
        yield _NoMeter()
