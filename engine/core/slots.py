"""Numbers of the runner's rows: one for each request that runs, the lowest free one first."""

from collections.abc import Iterable
from heapq import heappop, heappush


class SlotNumbers:
    """A lowered limit takes no slot away: those at and beyond it end with the requests that own them."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._made = 0
        """Numbers below it are taken or returned, those from it on have never been needed."""
        self._returned: list[int] = []

    @property
    def num_taken(self) -> int:
        return self._made - len(self._returned)

    @property
    def num_free(self) -> int:
        return max(0, self.limit - self.num_taken)

    def take(self) -> int:
        assert self.num_free, "more requests run than there are slots"
        if self._returned:
            return heappop(self._returned)
        self._made += 1
        return self._made - 1

    def give(self, slot: int) -> None:
        heappush(self._returned, slot)

    def check_integrity(self, taken: Iterable[int]) -> None:
        """`taken`: the slots of all requests that run."""
        assert sorted([*taken, *self._returned]) == list(range(self._made)), "a slot is lost or owned twice"
