"""Reloads under sixteen streaming clients: how soon edits are seen, and what they cost those who are being answered.

python benchmarks/reload.py [--short] [--only live surge drain undone vllm] [--vllm VENV/bin/vllm]
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import reload_engine
import reload_live
from models import random_qwen3, smollm2_gguf
from reload_table import Measure, publish

PARTS = ("live", "surge", "drain", "undone", "vllm")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true", help="little of everything: shows that it works, keeps no file")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--workdir", type=Path, default=Path(tempfile.gettempdir()) / "appliance-bench")
    parser.add_argument("--vllm", type=Path, help="vllm executable of a venv made by setup_vllm.sh")
    chosen = parser.parse_args()
    short, workdir = chosen.short, chosen.workdir
    workdir.mkdir(parents=True, exist_ok=True)
    model, second = smollm2_gguf(), random_qwen3(workdir)
    broken = reload_engine.broken_copy(second, workdir / "qwen3-broken")
    requests, rounds, times = (32, 1, 1) if short else (1000, 5, 3)
    parts: dict[str, list[Callable[[], list[Measure]]]] = {
        "live": [lambda: reload_live.run(model, workdir, rounds)],
        "surge": [lambda: reload_engine.replaced(model, workdir, "surge", requests)],
        "drain": [lambda: reload_engine.replaced(model, workdir, "drain", requests)],
        "undone": [
            lambda: reload_engine.undone(model, broken, workdir, "surge", times),
            lambda: reload_engine.undone(model, broken, workdir, "drain", times),
        ],
        "vllm": [
            lambda: reload_engine.vllm(chosen.vllm.resolve(), second, workdir, "surge", min(times, 2)),
            lambda: reload_engine.vllm(chosen.vllm.resolve(), second, workdir, "drain", min(times, 2)),
        ],
    }
    if chosen.vllm is None:
        del parts["vllm"]
        print("left out: vllm (no --vllm; benchmarks/setup_vllm.sh DIR makes one)")
    measures: list[Measure] = []
    for part in (name for name in parts if name in chosen.only):
        begun = time.monotonic()
        measures += [row for work in parts[part] for row in work()]
        print(f"{part}: {time.monotonic() - begun:.0f} s", flush=True)
    raise SystemExit(not publish(measures, keep=not short))


if __name__ == "__main__":
    main()
