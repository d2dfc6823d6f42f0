from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from appliance.cli.app import main
from appliance.cli.snippet import lines_of


@dataclass
class Ran:
    code: int
    out: str
    err: str


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Ran]:
    """Runs a command in an empty folder of its own, as a shell would see it."""
    monkeypatch.chdir(tmp_path)

    def command(*words: str) -> Ran:
        lines_of.cache_clear()
        with pytest.raises(SystemExit) as ended:
            main(words)
        said = capsys.readouterr()
        return Ran(int(ended.value.code or 0), said.out, said.err)

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
