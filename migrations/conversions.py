"""Conversions of values that a mapping from old to new cannot express; rules name them."""

import re
from collections.abc import Callable
from typing import Any

from appliance.migrations.canonical import Plain
from appliance.migrations.values import as_bool, parse_json


class CannotConvertError(ValueError):
    """The value has no counterpart; the message says why."""


def modality_limits(value: Plain) -> Plain:
    """`image=4,audio=1` -> {"image": 4, "audio": 1}"""
    pairs = [item.partition("=") for item in str(value).split(",")]
    if not all(separator and number.strip().isdigit() for _, separator, number in pairs):
        raise CannotConvertError('write it as JSON, for example {"image": 4}')
    return {name.strip().lower(): int(number) for name, _, number in pairs}


def reciprocal(value: Plain) -> Plain:
    if not isinstance(value, int | float) or isinstance(value, bool) or value == 0:
        raise CannotConvertError("it is no number other than 0")
    return 1 / value


def negated(value: Plain) -> Plain:
    said = as_bool(value)
    if said is None:
        raise CannotConvertError("it is neither true nor false")
    return not said


def switch(value: Plain) -> Plain:
    """The text of an environment variable as a boolean."""
    said = as_bool(value)
    if said is None:
        raise CannotConvertError("it is neither 0 nor 1")
    return said


def number(value: Plain) -> Plain:
    found = parse_json(str(value))
    if not isinstance(found, int | float) or isinstance(found, bool):
        raise CannotConvertError("it is no number")
    return found


def rope(value: Plain) -> Plain:
    """`{"type": "yarn", ...}` -> `{"rope_type": "yarn", ...}`, which is the only spelling newer engines read."""
    if not isinstance(value, dict):
        raise CannotConvertError("it is no JSON mapping")
    if "type" not in value or "rope_type" in value:
        return value
    return {("rope_type" if key == "type" else key): item for key, item in value.items()}


def numbers(value: Plain) -> Plain:
    """`512` or `[1, 2, 4]` as a list of whole numbers."""
    items: list[Any] = value if isinstance(value, list) else re.findall(r"\d+", str(value))
    if not all(str(item).isdigit() for item in items):
        raise CannotConvertError("it is no list of sizes")
    return [int(item) for item in items]


def single(value: Plain) -> Plain:
    """The one number of a list of one."""
    found = numbers(value)
    if not isinstance(found, list) or len(found) != 1:
        raise CannotConvertError("it is more than one size")
    return found[0]


CONVERSIONS: dict[str, Callable[[Plain], Plain]] = {
    "modality limits": modality_limits,
    "reciprocal": reciprocal,
    "negated": negated,
    "switch": switch,
    "number": number,
    "numbers": numbers,
    "rope": rope,
    "single": single,
}
