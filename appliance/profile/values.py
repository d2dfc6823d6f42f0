"""What a field may hold, in words: for `explain` and the docs."""

from collections.abc import Callable
from types import NoneType
from typing import Any, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import PlainValidator
from pydantic_core import PydanticUndefined

from .fields import Declared
from .source import check_source
from .types import parse_auto_count, parse_bind, parse_devices, parse_duration, parse_kv_size, parse_path, parse_size

SCALARS: dict[Any, str] = {
    bool: "true | false",
    int: "a whole number",
    float: "a number",
    str: "text",
    dict: "a mapping",
}
PARSED: dict[Callable[..., Any], str] = {
    parse_size: "a size such as 32MiB, or bytes",
    parse_duration: "a duration such as 500ms, 30s or 5m",
    parse_kv_size: "auto, a size such as 4GiB, or a number of tokens such as 65536 tokens",
    parse_auto_count: "auto, or a whole number from 1 up",
    parse_devices: "auto, how many (2), or which ones ([0, 1])",
    parse_path: "a path",
    parse_bind: "host:port",
    check_source: "a folder, file.gguf, hf:organisation/name[@revision], or pypi:distribution==version#path/inside",
}


def values(field: Declared) -> str:
    """One line."""
    if form := field.extra.get("x-form"):
        return f"{form}: {' | '.join(field.words)}" if field.words else str(form)
    parsed = next((PARSED[item.func] for item in field.info.metadata if isinstance(item, PlainValidator)), None)
    return parsed or _said(field.info.annotation, field.info.metadata)


def _said(annotation: Any, metadata: Any = ()) -> str:
    parsed = next((PARSED[item.func] for item in metadata if isinstance(item, PlainValidator)), None)
    if parsed:
        return parsed
    origin, parts = get_origin(annotation), get_args(annotation)
    if hasattr(annotation, "__metadata__"):
        return _said(annotation.__origin__, annotation.__metadata__)
    if origin is tuple:
        return f"a list, each {_said(parts[0])}"
    if origin is dict:
        return f"a mapping of names to {_said(parts[1])}"
    if origin and parts and all(isinstance(part, str | int) and not isinstance(part, type) for part in parts):
        return " | ".join(map(str, parts))
    if parts:
        kinds = dict.fromkeys("null" if part is NoneType else _said(part, metadata) for part in parts)
        return " | ".join(kinds)
    return SCALARS.get(annotation, "a mapping") + _bounds(metadata)


def _bounds(metadata: Any) -> str:
    said = []
    for item in getattr(metadata, "__iter__", list)():
        inner = getattr(item, "metadata", None) or (item,)
        for bound in inner:
            for kind, words in ((Ge, "from"), (Gt, "above"), (Le, "to"), (Lt, "below")):
                if isinstance(bound, kind):
                    said.append(f"{words} {getattr(bound, kind.__name__.lower()):g}")
    return f" {' '.join(said)}" if said else ""


def default(field: Declared) -> str:
    """As it would be written in a profile; empty where the key is required."""
    value = field.info.default
    if value is PydanticUndefined:
        return ""
    if field.extra.get("x-unit") == "seconds":
        return f"{value:g}s"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, tuple):
        return f"[{', '.join(map(str, value))}]"
    if field.extra.get("x-unit") == "bytes" and value % 2**20 == 0:
        return f"{value // 2**20}MiB"
    return str(value)
