"""Every field of a profile by its dotted path, with its value, where the value comes from and what a change needs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from appliance.profile import Profile
from appliance.profile.setting import Section

Origin = Literal["profile", "default", "planned"]


@dataclass(frozen=True)
class Resolved:
    """`value` is plain data. `reload`: live | reconfigure | engine | listener, what a change of it needs."""

    path: str
    value: Any
    reason: str
    origin: Origin
    reload: str


def resolve_all(profile: Profile, chosen: Mapping[str, tuple[Any, str]]) -> tuple[Resolved, ...]:
    """In the profile's order. `chosen`: what the planner decided, by path."""
    return tuple(_resolved(leaf, chosen) for leaf in leaves(profile))


def _resolved(leaf: tuple[str, Any, bool, str], chosen: Mapping[str, tuple[Any, str]]) -> Resolved:
    path, value, written, reload = leaf
    if path in chosen:
        planned, reason = chosen[path]
        return Resolved(
            path, plain(planned), reason, "profile" if written and plain(value) == planned else "planned", reload
        )
    return Resolved(
        path,
        plain(value),
        "written in the profile" if written else "the default",
        "profile" if written else "default",
        reload,
    )


def leaves(section: Section, prefix: str = "") -> Iterator[tuple[str, Any, bool, str]]:
    """(path, value, written in the profile?, reload class) of every field that is not a mapping of fields."""
    for name, field in type(section).model_fields.items():
        path, value = f"{prefix}{field.alias or name}", getattr(section, name)
        extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
        if isinstance(value, Section):
            yield from leaves(value, f"{path}.")
        else:
            yield path, value, name in section.model_fields_set, str(extra.get("x-reload", "engine"))


def plain(value: Any) -> Any:
    """As JSON has it: tuples become lists, nested sections mappings, a pool in tokens its text."""
    if isinstance(value, Section):
        return value.model_dump(mode="json", exclude_none=True)
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if hasattr(value, "count") and not isinstance(value, str):
        return f"{value.count} tokens"
    return value
