"""Option values between text and meaning."""

import json
import re
from typing import Any

from appliance.migrations.canonical import UNKNOWN, Plain, Value
from appliance.migrations.catalogue import Facts

TRUE = frozenset({"true", "1", "yes", "on", "y", "t"})
FALSE = frozenset({"false", "0", "no", "off", "n", "f"})
SECRETS = frozenset({"api-key", "hf-token", "VLLM_API_KEY", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HUGGINGFACE_TOKEN"})

_TEMPLATE = re.compile(r"\{\{.*?\}\}|\$\(|\$\{|\$[A-Za-z_]|\{%|<[a-z][a-z0-9 _-]*>", re.DOTALL)
_HUMAN = re.compile(r"(\d+(?:\.\d+)?)([kKmMgGtT])")
_FACTORS = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def templated(text: str) -> bool:
    """Whether something fills parts of the text in later, so that its value cannot be known."""
    return _TEMPLATE.search(text) is not None


def parse(text: str, facts: Facts | None) -> Value:
    """The value an option's text stands for; text that does not fit the type stays text, a templated one is UNKNOWN."""
    if templated(text):
        return UNKNOWN
    kind = facts.type if facts else "str"
    if kind == "bool":
        return as_bool(text) if as_bool(text) is not None else text
    if kind in ("json", "json-or-str"):
        return parse_json(text)
    if kind in ("int", "float"):
        return parse_number(text)
    return text


def parse_json(text: str) -> Value:
    """JSON, with the engine's own `80g` suffixes outside quotes; text that is no JSON stays text."""
    parts = re.split(r'("(?:[^"\\]|\\.)*")', text)
    parts[::2] = [_HUMAN.sub(lambda found: str(parse_number(found.group())), part) for part in parts[::2]]
    try:
        value: Plain = json.loads("".join(parts), parse_constant=str)
    except (ValueError, RecursionError):
        return text
    return value


def parse_dotted(text: str) -> Value:
    """The value behind `--option.key`: JSON where it is JSON, text otherwise."""
    return UNKNOWN if templated(text) else parse_json(text)


def parse_number(text: str) -> Plain:
    human = _HUMAN.fullmatch(text.strip())
    if human:
        return int(float(human[1]) * _FACTORS[human[2]])
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def as_bool(value: Any) -> bool | None:
    """What a word means as a switch, None when it means neither."""
    if isinstance(value, bool):
        return value
    word = str(value).strip().lower()
    return True if word in TRUE else False if word in FALSE else None


def same(value: Any, other: Any) -> bool:
    """Equal as the engine would read them: case does not count, `1` and `true` are one."""
    if isinstance(value, bool) or isinstance(other, bool):
        return as_bool(value) == as_bool(other) and as_bool(value) is not None
    if value is None or other is None:
        return value is other or str(value).lower() == str(other).lower()
    return str(value).lower() == str(other).lower()


def to_text(value: Plain) -> str:
    """As one argument of a command line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    return "" if value is None else str(value)
