"""Finds stop strings in text that arrives in pieces, and holds back what may become one."""


class StopSearch:
    """The stop string that ends first wins, of two that end together the longer: the text's split does not matter."""

    def __init__(self, stops: tuple[str, ...], include: bool) -> None:
        self._stops = stops
        self._include = include
        self._held = ""
        self.found: str | None = None

    def feed(self, text: str) -> str:
        """Text that is safe to show now. Once `found` is set nothing more follows."""
        text = self._held + text
        best: tuple[int, int, str] | None = None
        for stop in self._stops:
            start = text.find(stop)
            if start >= 0 and (best is None or (start + len(stop), start) < best[:2]):
                best = (start + len(stop), start, stop)
        if best:
            end, start, self.found = best
            self._held = ""
            return text[: end if self._include else start]
        keep = max((_overlap(text, stop) for stop in self._stops), default=0)
        self._held = text[len(text) - keep :]
        return text[: len(text) - keep]

    def flush(self) -> str:
        """What was held back, when the text is over."""
        held, self._held = self._held, ""
        return held


def _overlap(text: str, stop: str) -> int:
    """Length of the longest end of `text` that begins `stop`."""
    for length in range(min(len(stop) - 1, len(text)), 0, -1):
        if text.endswith(stop[:length]):
            return length
    return 0
