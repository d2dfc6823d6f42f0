"""An engine process on an address of its own."""

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest
from engine_process import Process, Start
from fake_runner import engine_config


@pytest.fixture
def address(tmp_path: Path) -> str:
    return f"ipc://{tmp_path}/e.sock"


@pytest.fixture
def start(address: str) -> Iterator[Start]:
    started: list[Process] = []

    def boot(step_seconds: float = 0.0, build: str = "", stderr: IO[bytes] | None = None, **options: object) -> Process:
        config = engine_config(**{"address": address, "num_blocks": 256, **options})
        line = json.dumps(dataclasses.asdict(config))
        started.append(Process(line, stderr, FAKE_STEP_SECONDS=str(step_seconds), FAKE_BUILD=build))
        return started[-1]

    yield boot
    for process in started:
        if process.child.poll() is None:
            process.end()
