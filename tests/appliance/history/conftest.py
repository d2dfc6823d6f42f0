from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from fake_appliance import FakeAppliance, serve

from appliance.cli.app import main


@dataclass
class Ran:
    code: int
    out: str
    err: str


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Ran]:
    """Runs a command on 80 columns, with the state folders of `tmp_path/state`."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "80")

    def command(*words: str) -> Ran:
        with pytest.raises(SystemExit) as ended:
            main(words)
        said = capsys.readouterr()
        return Ran(int(ended.value.code or 0), said.out, said.err)

    return command


@pytest.fixture
def states(tmp_path: Path) -> Path:
    """Where appliances have their folders, by name."""
    return tmp_path / "state" / "appliance"


@pytest.fixture
def triage(states: Path) -> Iterator[FakeAppliance]:
    """One that runs on `size: 1`."""
    with serve(states / "triage", "size: 1\n") as appliance:
        yield appliance
