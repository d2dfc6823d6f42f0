"""The JSON Schema that editors use says what the profile's classes say."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from appliance.cli.schema import SCHEMAS, folder, schema_text
from appliance.profile.fields import all_fields
from appliance.profile.schema import json_schema
from appliance.profile.text import read_text

CASES = Path(__file__).parent.parent / "validate" / "cases"
SCHEMA_CODES = ("AP0101", "AP0102", "AP0103", "AP0104", "AP0105", "AP0106", "AP0107", "AP0015")


@pytest.mark.parametrize("name", SCHEMAS)
def test_committed_file_is_what_the_code_gives(name: str) -> None:
    committed = (folder() / f"{name}.schema.json").read_text(encoding="utf-8")
    assert committed == schema_text(name), "run: make schemas"


@pytest.mark.parametrize("name", SCHEMAS)
def test_is_a_schema(name: str) -> None:
    schema = json.loads(schema_text(name))
    jsonschema.validators.validator_for(schema).check_schema(schema)


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, tuple) else value


@pytest.mark.parametrize("case", sorted(CASES.glob("*.case")), ids=lambda case: case.stem)
def test_agrees_with_validate(case: Path) -> None:
    """What the schema tier refuses the schema refuses, and what no tier refuses it takes."""
    text, _, expected = case.read_text(encoding="utf-8").partition("\n-----\n")
    if "${" in text or any(f"AP00{number:02}" in expected for number in range(1, 19) if number != 15):
        return
    valid = jsonschema.Draft7Validator(json_schema()).is_valid(plain(read_text(text, "p")[0].tree))
    assert valid == (not any(code in expected for code in SCHEMA_CODES))


def test_every_property_is_described() -> None:
    schema = json_schema()
    for section in (schema, *(part for part in schema["definitions"].values() if "properties" in part)):
        for name, value in section["properties"].items():
            assert value.get("description"), name
        assert section["additionalProperties"] is False


def test_has_every_field() -> None:
    text = json.dumps(json_schema())
    for path in all_fields():
        assert f'"{path.rpartition(".")[2]}"' in text


def test_profiles_point_at_the_schema() -> None:
    for profile in sorted(folder().parent.joinpath("profiles").glob("*.yaml")):
        first = profile.read_text(encoding="utf-8").splitlines()[0]
        assert first == "# yaml-language-server: $schema=../schemas/profile.schema.json"
        assert isinstance(yaml.safe_load(profile.read_text(encoding="utf-8")), dict)
