"""What a mistyped word may have meant."""

from collections.abc import Iterable
from difflib import get_close_matches

from .fields import all_fields


def nearest(word: str, known: Iterable[str]) -> str | None:
    by_lower = {name.lower().replace("-", "_"): name for name in known}
    wanted = word.lower().replace("-", "_")[:80]
    near = get_close_matches(wanted, by_lower, n=1, cutoff=0.6)
    if near:
        return by_lower[near[0]]
    longer = [name for lower, name in by_lower.items() if len(wanted) >= 3 and lower.startswith(wanted)]
    return longer[0] if len(longer) == 1 else None


def elsewhere(key: str) -> str | None:
    """The path of a field that has this name, or renders to an engine option of this name."""
    wanted = key.lower().replace("-", "_").strip("_")
    for path, field in all_fields().items():
        if field.option.replace("-", "_") == wanted:
            return path
    homes = [path for path in all_fields() if path.rpartition(".")[2] == wanted]
    return homes[0] if len(homes) == 1 else None
