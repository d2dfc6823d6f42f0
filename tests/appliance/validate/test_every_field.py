"""Nothing of the schema is accepted and ignored: each field has a reader, or is refused for now."""

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from appliance.profile import Profile
from appliance.profile.fields import all_fields, leaves
from appliance.validate import Facts
from appliance.validate.honoured import HONOURED
from appliance.validate.not_yet import NOT_YET, not_yet

REFUSED = {missing.path for missing in NOT_YET}


def is_refused(path: str) -> bool:
    return any(path == refused or path.startswith((f"{refused}.", f"{refused}[]")) for refused in REFUSED)


@pytest.mark.parametrize("path", leaves())
def test_is_honoured_or_refused(path: str) -> None:
    assert path in HONOURED or is_refused(path)


@pytest.mark.parametrize(("path", "module"), HONOURED.items())
def test_reader_exists_and_reads_it(path: str, module: str) -> None:
    assert path in leaves()
    spec = find_spec(module)
    assert spec is not None and spec.origin is not None
    source = Path(spec.origin).read_text(encoding="utf-8")
    attribute = path.removesuffix("[]").rpartition(".")[2]
    indirectly = path.startswith("endpoints.") and "profile.endpoints" in source
    assert indirectly or re.search(rf"\b{attribute}_?\b", source)


@pytest.mark.parametrize("path", REFUSED)
def test_refused_path_exists(path: str) -> None:
    assert path in all_fields()


def test_defaults_promise_nothing_that_does_not_exist(facts: Any) -> None:
    made: Facts = facts("")
    assert made.profile == Profile.model_validate(
        {"schema": 1, "name": "triage", "release": "0.32", "model": {"source": made.profile.model.source}}
    )
    assert list(not_yet(made)) == []


@pytest.mark.parametrize("path", leaves())
def test_declares_what_everything_else_is_made_from(path: str) -> None:
    field = leaves()[path]
    assert field.reload in ("live", "reconfigure", "engine", "listener")
    assert field.extra["x-since"] in ("0.31", "0.32", "0.33")
    assert field.info.description and field.info.description.endswith(".")


def test_sections_have_descriptions_and_only_leaves_have_reload_classes() -> None:
    for path, field in all_fields().items():
        assert field.info.description, path
        assert field.reload or field.section, path
