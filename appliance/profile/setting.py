"""The one way a field of the profile is declared: schema, docs, command line and reload plan are read from it."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Reload = Literal["live", "reconfigure", "engine", "listener"]
"""What a changed value needs: a swap of the servers' settings, new settings for the running engine between two of its
steps (a new generation where the backend cannot), a new generation of the engine, a new listening socket."""

REQUIRED: Any = ...


class Section(BaseModel):
    """A mapping of the profile. Frozen; unknown keys and silent conversions ("8" for 8) are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, validate_default=False)


def setting(
    default: Any = REQUIRED,
    *,
    description: str,
    reload: Reload,
    unit: str | None = None,
    option: str | None = None,
    since: str = "0.31",
    alias: str | None = None,
    form: str | None = None,
    **limits: Any,
) -> Any:
    """Declares one leaf. `unit` of numbers, `option` = the engine's own option it renders to, `since` = first release.
    `form` says in words what a pattern wants.

    `limits` are pydantic's (ge, le, gt, lt, min_length, max_length, pattern).
    """
    extra: dict[str, Any] = {"x-reload": reload, "x-since": since}
    extra |= {"x-unit": unit} if unit else {}
    extra |= {"x-option": option} if option else {}
    extra |= {"x-form": form} if form else {}
    return Field(default, description=description, json_schema_extra=extra, alias=alias, **limits)


def section(kind: type[Section], *, description: str) -> Any:
    """Declares a nested mapping that may be left out: every field of it then has its default."""
    return Field(default_factory=kind, description=description)
