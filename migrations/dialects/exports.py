"""What belongs to which command of a script: exported variables, and text that could be read in two ways."""

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Sequence

from appliance.migrations.canonical import Deployment, OptionSite, merged


class Exports:
    """The variables that a command gets: all set since the last command took them, and the last of each name before."""

    def __init__(self, given: Sequence[OptionSite], exports: Iterable[OptionSite]) -> None:
        self._given = given
        self._waiting = sorted(exports, key=lambda site: site.element.end, reverse=True)
        self._fresh: list[OptionSite] = []
        self._last: dict[str, OptionSite] = {}

    def reach(self, offset: int) -> None:
        """The script has come to this place."""
        while self._waiting and self._waiting[-1].element.end <= offset:
            self._fresh.append(self._waiting.pop())

    def take(self) -> list[OptionSite]:
        """What a command here gets."""
        found = [*self._given, *self._last.values(), *self._fresh]
        for site in self._fresh:
            self._last[site.name] = site
        self._fresh = []
        return found


def distinct(found: Iterable[Deployment]) -> Iterator[Deployment]:
    """Leaves out what stands inside of something already read, as a command substitution in a quoted command."""
    taken: list[tuple[int, int]] = []
    for deployment in found:
        own = _places(deployment)
        if not any(_crosses(taken, start, end) for start, end in own):
            for place in own:
                insort(taken, place)
            yield deployment


def _places(deployment: Deployment) -> list[tuple[int, int]]:
    """The text that the deployment alone may edit, in pieces that do not touch."""
    own = (site.element for site in deployment.sites if not getattr(site.handle, "borrowed", False))
    return merged((element.start, element.end) for element in own)


def _crosses(taken: list[tuple[int, int]], start: int, end: int) -> bool:
    index = bisect_left(taken, (start, end))
    before = index > 0 and taken[index - 1][1] > start
    return before or (index < len(taken) and taken[index][0] < end)
