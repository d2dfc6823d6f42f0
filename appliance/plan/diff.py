"""What changes from one plan to another, and what each change needs."""

from dataclasses import dataclass, fields
from typing import Any

from .plan import Plan

# Follow from other values, or name the place where the engine listens.
DERIVED = {"address", "generation"}


@dataclass(frozen=True)
class Change:
    """`reload`: live | reconfigure | engine | listener."""

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
    # vLLM's words follow from many fields at once
    explained_whole = after.vllm is not None and bool(changes)
    for name, was, now in [] if explained_whole else _process_settings(before, after):
        if was != now and name not in DERIVED and known.get(name) not in changed:
            explained = any(path.rpartition(".")[2] in _names(name) for path in changed)
            changes += [] if explained else [Change(f"engine process {name}", was, now, "engine")]
    if before.sampling != after.sampling:
        changes.append(Change("sampling defaults of the model", before.sampling, after.sampling, "live"))
    return tuple(changes)


def _process_settings(before: Plan, after: Plan) -> list[tuple[str, Any, Any]]:
    """(name, before, after) of what engine processes of one backend are told; a change of backend says it all."""
    old, new = before.engine or before.vllm, after.engine or after.vllm
    if type(old) is not type(new) or old is None or new is None:
        return []
    names = [field.name for field in fields(old)] if before.engine else ["arguments", "environment", "replicas"]
    return [(name, getattr(old, name), getattr(new, name)) for name in names]


def _names(engine_field: str) -> tuple[str, ...]:
    """Last words of the profile fields that an engine setting comes from."""
    return {"kv_dtype": ("dtype",), "max_batch_tokens": ("max_tokens",)}.get(engine_field, (engine_field,))
