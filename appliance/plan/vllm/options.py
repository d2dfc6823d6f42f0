"""`engine.vllm.options` in canonical form, and as words of a command line."""

from collections.abc import Mapping
from typing import Any

from appliance.migrations.argv import name_of, write_words
from appliance.migrations.catalogue import Facts, catalogue
from appliance.migrations.release import release


def canonical(options: Mapping[str, Any]) -> dict[str, Any]:
    """Names as the catalogue has them (`max_num_seqs`, `no-enable-x` -> `max-num-seqs`, `enable-x: false`)."""
    found = {}
    for name, value in options.items():
        named = name_of(f"--{name.lstrip('-')}")
        key = ".".join((named.name, *named.path))
        found[key] = not value if named.negative and isinstance(value, bool) else _plain(value)
    return found


def words(name: str, value: Any, target: str) -> list[str]:
    """A switch that has no negation says no by its absence."""
    head, *path = name.split(".")
    if value is False and not path:
        facts = facts_of(head, target)
        return write_words(head, False) if facts is None or facts.negations else []
    return write_words(head, _plain(value), tuple(path))


def facts_of(name: str, target: str) -> Facts | None:
    """None where the release does not have it."""
    book = catalogue()
    entry = book.options.get(name)
    return entry.at(book.index(release(target))) if entry else None


def _plain(value: Any) -> Any:
    return [_plain(item) for item in value] if isinstance(value, tuple | list) else value
