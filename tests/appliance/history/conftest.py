from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fake_appliance import FakeAppliance, serve


@pytest.fixture
def cli(command: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Any]:
    """Runs a command on 80 columns, with the state folders of `tmp_path/state`."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "80")
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
