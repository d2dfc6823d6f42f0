"""Which exported variables a command of a script gets."""

from collections.abc import Iterable, Sequence

from appliance.migrations.canonical import OptionSite


class Exports:
    """The variables that a command gets: all set since the last command took them, and the last of each name before."""

    def __init__(self, given: Sequence[OptionSite], exports: Iterable[OptionSite]) -> None:
        self._given = given
        self._waiting = sorted(exports, key=lambda site: site.element.start, reverse=True)
        self._fresh: list[OptionSite] = []
        self._last: dict[str, OptionSite] = {}

    def reach(self, offset: int) -> None:
        """The script has come to this place."""
        while self._waiting and self._waiting[-1].element.start <= offset:
            self._fresh.append(self._waiting.pop())

    def take(self) -> list[OptionSite]:
        """What a command here gets."""
        found = [*self._given, *self._last.values(), *self._fresh]
        for site in self._fresh:
            self._last[site.name] = site
        self._fresh = []
        return found
