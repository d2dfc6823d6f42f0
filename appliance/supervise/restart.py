"""When a dead process is started again, and when that is given up."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class RestartPolicy:
    """Waits grow from death to death and start over once the window holds no other death. Seconds throughout."""

    limit: int = 5
    """Deaths within the window that end it."""
    window: float = 60.0
    first: float = 0.25
    factor: float = 2.0
    ceiling: float = 10.0

    def delay(self, deaths: Sequence[float], now: float) -> float | None:
        """Seconds to wait before the next start, None = give up. `deaths` are times, the newest included."""
        recent = sum(now - death <= self.window for death in deaths)
        if recent >= self.limit:
            return None
        return min(self.ceiling, self.first * self.factor ** max(0, recent - 1))


DEFAULT = RestartPolicy()
