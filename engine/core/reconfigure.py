"""New settings for a running engine: checked as a whole before any of them holds."""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import get_args

from appliance.engine.config import RECONFIGURABLE, EngineConfig, LogFormat, LogLevel

Value = bool | int | str

MOST = 2**31 - 1
NUMBERS = frozenset({"max_sequences", "max_batch_tokens", "max_context"})
CHOICES: dict[str, tuple[str, ...]] = {"log_level": get_args(LogLevel), "log_format": get_args(LogFormat)}


def reconfigured(config: EngineConfig, settings: Mapping[str, Value]) -> EngineConfig:
    """`config` with `settings`; ValueError names everything that speaks against it."""
    problems = [problem for name, value in settings.items() if (problem := _problem(name, value))]
    if not problems:
        tokens = settings.get("max_batch_tokens", config.max_batch_tokens)
        sequences = settings.get("max_sequences", config.max_sequences)
        chunked = settings.get("chunked_prefill", config.chunked_prefill)
        if not chunked and int(tokens) < int(sequences):
            problems.append(
                f"max_batch_tokens {tokens} is less than max_sequences {sequences}, which only chunked_prefill allows"
            )
    if problems:
        raise ValueError("; ".join(problems))
    return replace(config, **dict(settings))  # type: ignore[arg-type]  # checked above, field by field


def _problem(name: str, value: Value) -> str | None:
    if name not in RECONFIGURABLE:
        known = name in {field.name for field in fields(EngineConfig)}
        return f"{name} {'needs a new engine' if known else 'is no setting of an engine'}"
    if name in CHOICES:
        return None if value in CHOICES[name] else f"{name} is {value!r}, not one of {', '.join(CHOICES[name])}"
    if name not in NUMBERS:
        return None if isinstance(value, bool) else f"{name} is {value!r}, not true or false"
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST:
        return f"{name} is {value!r}, not a whole number from 1 to {MOST}"
    return None
