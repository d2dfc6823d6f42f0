"""Scalar types: each turns what YAML gives into one plain value, or says in one sentence what it wants."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import PlainValidator, ValidationInfo, WithJsonSchema
from pydantic_core import PydanticCustomError

SIZES = {
    "B": 1,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
}
DURATIONS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
SPELLED = {"mil": "ms", "ms": "ms", "m": "m", "s": "s", "h": "h", "d": "d"}
NUMBER = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,9})?) *([A-Za-z]*)")


@dataclass(frozen=True)
class Tokens:
    """A KV pool measured in tokens instead of bytes."""

    count: int


def wants(what: str, fix: str = "") -> PydanticCustomError:
    """`what` completes "wants ..."; the caller adds the seen value."""
    return PydanticCustomError("wants", "{what}", {"what": what, "fix": fix})


def parse_size(value: Any) -> int:
    """Bytes. "32MiB" is binary, "32MB" decimal; a bare number is bytes."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        return value
    found = NUMBER.fullmatch(value) if isinstance(value, str) else None
    if found and found[2] in SIZES and (size := int(float(found[1]) * SIZES[found[2]])) >= 1:
        return size
    raise wants("a size such as 32MiB or 4GiB", near_unit(value, SIZES))


def parse_duration(value: Any) -> float:
    """Seconds. A bare number is refused: 30 of what?"""
    found = NUMBER.fullmatch(value) if isinstance(value, str) else None
    if found and found[2] in DURATIONS:
        return float(found[1]) * DURATIONS[found[2]]
    seconds = isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
    raise wants("a duration such as 500ms, 30s or 5m", f"write {value}s" if seconds else near_unit(value, DURATIONS))


def near_unit(value: Any, units: dict[str, Any]) -> str:
    """A repair where only the unit's letters are wrong: 4gb, 4G, 30sec."""
    found = NUMBER.fullmatch(value) if isinstance(value, str) else None
    if not found:
        return ""
    meant = [unit for unit in units if unit.lower() == found[2].lower()]
    if not meant and units is SIZES:
        meant = [unit for unit in units if unit[0].lower() == found[2].lower() and unit.endswith("iB")]
    elif not meant:
        meant = [unit for start, unit in SPELLED.items() if found[2].lower().startswith(start)]
    return f"did you mean {found[1]}{meant[0]}?" if meant else f"units are {', '.join(units)}"


def parse_kv_size(value: Any) -> int | Tokens | Literal["auto"]:
    if value == "auto":
        return "auto"
    found = re.fullmatch(r"([0-9]{1,15}) *tokens", value) if isinstance(value, str) else None
    if found and int(found[1]) >= 1:
        return Tokens(int(found[1]))
    what = "auto, a size such as 4GiB, or a number of tokens such as 65536 tokens"
    if not isinstance(value, str) or found:
        raise wants(what)
    try:
        return parse_size(value)
    except PydanticCustomError as error:
        raise wants(what, str((error.context or {}).get("fix", ""))) from error


def parse_auto_count(value: Any) -> int | Literal["auto"]:
    if value == "auto" or (isinstance(value, int) and not isinstance(value, bool) and value >= 1):
        return value  # type: ignore[no-any-return]
    quoted = isinstance(value, str) and value.isdecimal()
    raise wants("auto or a whole number from 1 up", f"write {value} without quotes" if quoted else "")


def parse_devices(value: Any) -> int | tuple[int, ...] | Literal["auto"]:
    if value == "auto" or (isinstance(value, int) and not isinstance(value, bool) and value >= 1):
        return value  # type: ignore[no-any-return]
    numbers = isinstance(value, tuple) and all(type(item) is int and item >= 0 for item in value)
    if numbers and value and len(set(value)) == len(value):
        return value  # type: ignore[no-any-return]
    fix = f"for device number {value} alone write [{value}]" if value == 0 and value is not False else ""
    raise wants("auto, how many devices (2), or which ones ([0, 1])", fix)


def parse_path(value: Any, info: ValidationInfo) -> str:
    """Absolute where the profile's own folder is known (context "base"); `~` is the user's home."""
    if not isinstance(value, str) or not value or not value.isprintable():
        raise wants("a path of printable characters")
    if len(value) > 4000 or any(len(part.encode()) > 255 for part in value.split("/")):
        raise wants("a path: it is too long")
    try:
        path = Path(value).expanduser() if value.startswith("~") else Path(value)
    except RuntimeError as error:
        raise wants("a path: this machine has no such user") from error
    base = (info.context or {}).get("base")
    return str(Path(base, path)) if base else str(path)


def parse_bind(value: Any) -> str:
    found = re.fullmatch(r"(\[[0-9a-fA-F:.%]+\]|[^\s:\[\]/]+):([0-9]{1,5})", value) if isinstance(value, str) else None
    if found and int(found[2]) <= 65535 and value.isprintable():
        return value  # type: ignore[no-any-return]
    fix = ""
    if isinstance(value, int) or (isinstance(value, str) and value.removeprefix(":").isdecimal()):
        fix = f"write 127.0.0.1:{str(value).removeprefix(':')} for this machine only"
    elif isinstance(value, str) and "://" in value:
        fix = "leave the scheme out"
    raise wants("host:port such as 127.0.0.1:8000 or [::1]:8000", fix)


def host_port(bind: str) -> tuple[str, int]:
    """Of a checked `security.bind`; an IPv6 host comes without its brackets."""
    host, _, port = bind.rpartition(":")
    return host.strip("[]"), int(port)


def _schema(kind: str, pattern: str, *others: dict[str, Any]) -> WithJsonSchema:
    text = {"type": kind, "pattern": pattern}
    return WithJsonSchema({"anyOf": [*others, text]} if others else text)


AUTO = {"const": "auto"}
COUNT = {"type": "integer", "minimum": 1}
SIZE = r"^[0-9]{1,15}(\.[0-9]{1,9})? *(B|[KMGT]i?B)$"
HOST = r"(\[[0-9a-fA-F:.%]+\]|[^\s:\[\]/]+)"
PORT = r"(6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5]?[0-9]{1,4})"
DURATION = r"^[0-9]{1,15}(\.[0-9]{1,9})? *(ms|s|m|h|d)$"

Size = Annotated[int, PlainValidator(parse_size), _schema("string", SIZE, COUNT)]
Duration = Annotated[float, PlainValidator(parse_duration), _schema("string", DURATION)]
KVSize = Annotated[
    int | Tokens | Literal["auto"],
    PlainValidator(parse_kv_size),
    _schema("string", rf"{SIZE}|^[0-9]{{1,15}} *tokens$", AUTO),
]
AutoCount = Annotated[int | Literal["auto"], PlainValidator(parse_auto_count), WithJsonSchema({"anyOf": [AUTO, COUNT]})]
Devices = Annotated[
    int | tuple[int, ...] | Literal["auto"],
    PlainValidator(parse_devices),
    WithJsonSchema(
        {
            "anyOf": [
                AUTO,
                COUNT,
                {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 1, "uniqueItems": True},
            ]
        }
    ),
]
FilePath = Annotated[str, PlainValidator(parse_path), WithJsonSchema({"type": "string", "minLength": 1})]
Bind = Annotated[str, PlainValidator(parse_bind), _schema("string", rf"^{HOST}:{PORT}$")]
