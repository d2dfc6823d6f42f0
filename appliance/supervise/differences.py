"""What changed between two profiles, field by field."""

from pydantic import BaseModel


def leaves(section: BaseModel, prefix: str = "") -> dict[str, object]:
    """Dotted path -> value of every field."""
    found: dict[str, object] = {}
    for name, info in type(section).model_fields.items():
        path = f"{prefix}{info.alias or name}"
        value = getattr(section, name)
        if isinstance(value, BaseModel):
            found |= leaves(value, f"{path}.")
        else:
            found[path] = value
    return found


def differences(old: BaseModel, new: BaseModel) -> list[str]:
    """`kv_cache.block_tokens: 16 -> 32`, in the order of the profile."""
    before, after = leaves(old), leaves(new)
    paths = [*before, *(path for path in after if path not in before)]
    absent = "(absent)"
    return [
        f"{path}: {before.get(path, absent)} -> {after.get(path, absent)}"
        for path in paths
        if before.get(path, absent) != after.get(path, absent)
    ]
