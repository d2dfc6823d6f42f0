"""Sizes for people: binary units, three significant digits."""

UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def size(count: int | float) -> str:
    """1536 -> 1.50 KiB."""
    value, unit = float(count), 0
    while round(abs(value)) >= 1024 and unit < len(UNITS) - 1:
        value, unit = value / 1024, unit + 1
    if unit == 0:
        return f"{int(value)} B"
    return f"{value:.{2 if abs(value) < 10 else 1 if abs(value) < 100 else 0}f} {UNITS[unit]}"


def plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
