"""What changes from one plan to another, and what each change needs."""

from dataclasses import dataclass, fields
from typing import Any

from .plan import Plan

# Follow from other values, or name the place where the engine listens.
DERIVED = {"address", "generation"}


@dataclass(frozen=True)
class Change:
    """`reload`: live | engine | listener."""

    path: str
    before: Any
    after: Any
    reload: str


def diff_plans(before: Plan, after: Plan) -> tuple[Change, ...]:
    """Per field of the profile, in its order; what else differs in the engine's settings follows."""
    old = {value.path: value for value in before.values}
    changes = [
        Change(value.path, old[value.path].value if value.path in old else None, value.value, value.reload)
        for value in after.values
        if value.path not in old or old[value.path].value != value.value
    ]
    known = {"model_path": "model.source", "num_blocks": "kv_cache.size"}
    changed = {change.path for change in changes}
    for field in fields(before.engine):
        was, now = getattr(before.engine, field.name), getattr(after.engine, field.name)
        if was != now and field.name not in DERIVED and known.get(field.name) not in changed:
            explained = any(path.rpartition(".")[2] in _names(field.name) for path in changed)
            changes += [] if explained else [Change(f"engine process {field.name}", was, now, "engine")]
    if before.sampling != after.sampling:
        changes.append(Change("sampling defaults of the model", before.sampling, after.sampling, "live"))
    return tuple(changes)


def _names(engine_field: str) -> tuple[str, ...]:
    """Last words of the profile fields that an engine setting comes from."""
    return {"kv_dtype": ("dtype",), "max_batch_tokens": ("max_tokens",)}.get(engine_field, (engine_field,))
