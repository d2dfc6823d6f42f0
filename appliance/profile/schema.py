"""JSON Schema of a profile, for editors: completion, hovers, and most of what `appliance validate` says."""

from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from .root import Profile

DRAFT = "http://json-schema.org/draft-07/schema#"
REFERENCE = {"type": "string", "pattern": r"\$\{", "description": "Taken from an environment variable."}
HINTS = {
    "live": "without interruption",
    "reconfigure": "between two steps of the engine",
    "engine": "with a new engine",
    "listener": "with a new listening socket",
}


def json_schema() -> dict[str, Any]:
    """Draft 07, which editors know best: definitions, and nothing beside a reference."""
    schema = Profile.model_json_schema(ref_template="#/definitions/{model}", schema_generator=GenerateJsonSchema)
    definitions = schema.pop("$defs")
    for section in (schema, *definitions.values()):
        section.pop("title", None)
        section["properties"] = {name: _property(value) for name, value in section["properties"].items()}
    definitions["Reference"] = REFERENCE
    head = {"$schema": DRAFT, "$id": "profile.schema.json", "title": "Profile of the appliance"}
    return {**head, **schema, "definitions": dict(sorted(definitions.items()))}


def _property(value: dict[str, Any]) -> dict[str, Any]:
    value.pop("title", None)
    notes = {name: value.pop(name) for name in list(value) if name in ("description", "default") or name[:2] == "x-"}
    reload = notes.get("x-reload")
    if reload:
        unit = f" Unit: {notes['x-unit']}." if "x-unit" in notes else ""
        notes["description"] = f"{notes['description']}{unit} An edit takes effect {HINTS[reload]}."
    if "$ref" in value:
        return {"allOf": [value], **notes}
    plain_text = value == {"type": "string"} or value.get("type") in ("array", "object")
    nested = "$ref" in str(value)
    if not reload or plain_text or nested:
        return {**value, **notes}
    branches = value["anyOf"] if set(value) == {"anyOf"} else [value]
    return {"anyOf": [*branches, {"$ref": "#/definitions/Reference"}], **notes}
