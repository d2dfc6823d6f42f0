"""Points in time and durations for people."""

import time
from datetime import datetime


def moment(at: float) -> str:
    """Local time to the second."""
    return datetime.fromtimestamp(at).strftime("%Y-%m-%d %H:%M:%S")


def duration(seconds: float) -> str:
    """`0.4 s`, `12 s`, `3 min`, `5 h 12 min`, `2 d 3 h`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = int(seconds // 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours < 48 else f"{hours // 24} d {hours % 24} h"


def ago(at: float) -> str:
    """A clock that was set back makes an age negative; then the moment is said as it was noted."""
    age = time.time() - at
    return f"{duration(age)} ago" if age >= 0 else f"at {moment(at)}"
