"""Command-line options all benchmarks share."""

import argparse
import tempfile
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Options:
    runs: int
    """Measured runs a cell; the table shows their median."""
    workdir: Path
    """Models, profiles and logs of the run."""
    vllm: Path | None
    """Executable in a virtual environment made by setup_vllm.sh."""


def parse(description: str) -> Options:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--workdir", type=Path, default=Path(tempfile.gettempdir()) / "appliance-bench")
    parser.add_argument("--vllm", type=Path, help="vllm executable of a venv made by setup_vllm.sh")
    chosen = parser.parse_args()
    chosen.workdir.mkdir(parents=True, exist_ok=True)
    return Options(chosen.runs, chosen.workdir, chosen.vllm)


def peer_executable(options: Options) -> Path:
    if options.vllm is None:
        raise SystemExit("this benchmark runs beside vLLM: benchmarks/setup_vllm.sh DIR, then --vllm DIR/bin/vllm")
    return options.vllm
