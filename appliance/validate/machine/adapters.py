"""Are the LoRA adapters here, and are they of a kind that the native engine can apply?"""

from collections.abc import Iterator
from pathlib import Path

from appliance.engine.checkpoint import CheckpointError
from appliance.engine.lora.config import NAME, read_lora_config

from ...diagnostics import Diagnostic
from ...profile.source import parse_source
from ..facts import Facts


def adapters(facts: Facts) -> Iterator[Diagnostic]:
    """Those of a hub or an index are seen when they have been fetched."""
    for index, adapter in enumerate(facts.profile.model.adapters):
        path, source = f"model.adapters[{index}].source", parse_source(adapter.source)
        if source.kind == "gguf":
            fix = f"name a folder that holds {NAME}"
            yield facts.error("AP0302", path, "a .gguf file is no adapter that this appliance reads", fix)
        elif source.kind == "folder" and not Path(source.path).is_dir():
            yield facts.error("AP0301", path, f"no folder {source.path}", "correct the path")
        elif source.kind == "folder" and facts.profile.engine.backend == "native":
            try:
                read_lora_config(Path(source.path))
            except CheckpointError as error:
                yield facts.error("AP0302", path, f"{error.path}: {error.fact}", error.fix)
