from collections.abc import Callable
from pathlib import Path

import pytest

from appliance.validate import Facts, ValidationResult, validate

HEAD = 'schema: 1\nname: triage\nrelease: "0.32"\n'


@pytest.fixture
def check(tmp_path: Path) -> Callable[..., ValidationResult]:
    """`check("kv_cache: {...}", source="./model")` validates a profile with these lines, on this machine."""

    def run(
        lines: str, source: str = "./model", environ: dict[str, str] | None = None, **model: str
    ) -> ValidationResult:
        more = "".join(f"  {key}: {value}\n" for key, value in model.items())
        (tmp_path / "profile.yaml").write_text(f"{HEAD}model:\n  source: {source}\n{more}{lines}", encoding="utf-8")
        return validate(tmp_path / "profile.yaml", environ=environ or {})

    return run


@pytest.fixture
def facts(check: Callable[..., ValidationResult]) -> Callable[[str], Facts]:
    def make(lines: str) -> Facts:
        found = check(lines).facts
        assert found is not None
        return found

    return make
