"""generation_config.json: which ids end a text, and the sampling its authors recommend."""

from pathlib import Path

from .fields import Fields, read_json

# The keys that a server takes as defaults; all other keys belong to the library that wrote the file.
SAMPLING_KEYS = ("temperature", "top_p", "top_k", "min_p", "repetition_penalty", "max_new_tokens")


def read_generation(folder: Path) -> tuple[dict[str, float], tuple[int, ...]]:
    """(sampling defaults by their own names, end-of-text ids); both empty where the file is absent."""
    path = folder / "generation_config.json"
    if not path.exists():
        return {}, ()
    fields = Fields(str(path), read_json(path))
    found = {key: fields.optional_number(key, positive=False) for key in SAMPLING_KEYS}
    return {key: value for key, value in found.items() if value is not None}, fields.token_ids("eos_token_id")
