from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def run(command: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Any]:
    """Runs a command in an empty folder of its own."""
    monkeypatch.chdir(tmp_path)
    return command


GOOD = 'schema: 1\nname: triage\nrelease: "0.32"\nmodel: {source: hf:a/b}\n'
BAD = GOOD + "kv_cache: {dtype: fp9}\n"
OPEN = GOOD + "security: {bind: 0.0.0.0:8000}\n"


@pytest.fixture
def profiles(tmp_path: Path) -> Path:
    """good.yaml, bad.yaml (one error), open.yaml (one warning)."""
    for name, text in (("good", GOOD), ("bad", BAD), ("open", OPEN)):
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    return tmp_path
