"""generation_config.json: which ids end a text, and the sampling its authors recommend."""

from collections.abc import Mapping
from pathlib import Path

from .fields import Fields, read_json

# What a server takes as defaults, with least and most; other keys belong to the library that wrote the file.
SAMPLING_RANGES = {
    "temperature": (0.0, 100.0),
    "top_p": (1e-9, 1.0),
    "top_k": (-1.0, 2.0**31),
    "min_p": (0.0, 1.0),
    "repetition_penalty": (1e-9, 100.0),
    "max_new_tokens": (1.0, 2.0**31),
}


def read_generation(folder: Path) -> tuple[dict[str, float], tuple[int, ...]]:
    """(sampling defaults by their own names, end-of-text ids); both empty where the file is absent."""
    path = folder / "generation_config.json"
    if not path.exists():
        return {}, ()
    fields = Fields(str(path), read_json(path))
    return read_sampling(fields, {key: key for key in SAMPLING_RANGES}), fields.token_ids("eos_token_id")


def read_sampling(fields: Fields, names: Mapping[str, str]) -> dict[str, float]:
    """`names`: key in the file -> name of the setting. CheckpointError for a value that no request may have."""
    found: dict[str, float] = {}
    for key, name in names.items():
        value = fields.optional_number(key, positive=False)
        least, most = SAMPLING_RANGES[name]
        if value is not None and not least <= value <= most:
            raise fields.wrong(key, f"a number from {least:g} to {most:g}")
        if value is not None:
            found[name] = value
    return found
