"""Whether a rule speaks about what a deployment says."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from appliance.migrations.canonical import UNKNOWN, Plain, Value
from appliance.migrations.operations import Raw
from appliance.migrations.rule import Below, Condition, Is, IsNot, Lacks, Like, Match, ModelLike, Sets, Target
from appliance.migrations.settings import Settings, value_of
from appliance.migrations.values import parse_number, same, to_text


def fits(match: Match | None, value: Value | Raw) -> bool:
    """A value that cannot be known fits only where none is asked for."""
    if match is None:
        return True
    if value is UNKNOWN or isinstance(value, Raw):
        return False
    match match:
        case Is(values=wanted):
            return any(same(value, item) for item in wanted)
        case IsNot(values=wanted):
            return not any(same(value, item) for item in wanted)
        case Like(pattern=pattern):
            return re.match(pattern, to_text(_plain(value))) is not None


def holds(condition: Condition, settings: Settings, model: str | None) -> bool:
    match condition:
        case Sets(target=target, match=match):
            groups = settings.at(target)
            return any(fits(match, value_of(leaves, len(target.path))) for _, leaves in groups)
        case Lacks(target=target):
            return not settings.sets(target)
        case ModelLike(pattern=pattern):
            return _compiled(pattern).search(model or "") is not None
        case Below(target=target, other=other):
            small, large = _number(settings, target), _number(settings, other)
            return small is not None and large is not None and small < large


def _number(settings: Settings, target: Target) -> float | None:
    """The value that counts; None where there is none, or no number."""
    values = [value_of(leaves, len(target.path)) for _, leaves in settings.at(target)]
    last = parse_number(values[-1]) if values and isinstance(values[-1], str) else values[-1] if values else None
    return last if isinstance(last, int | float) and not isinstance(last, bool) else None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def look_up(values: Mapping[Any, Plain], value: Plain) -> Any:
    """The new value for the old one; raises KeyError when the table does not speak of it."""
    for key, new in values.items():
        if same(value, key):
            return new
    raise KeyError(value)


def _plain(value: Value | Raw) -> Plain:
    return None if value is UNKNOWN or isinstance(value, Raw) else value
