"""Times `appliance migrate`: cold start, many files of mixed dialects, large Helm values files.

python benchmarks/migrate_speed.py [--files N]
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from appliance.migrate import Wanted, find, migrate_file
from appliance.migrations.release import Release

ROOT = Path(__file__).resolve().parent.parent
CASES = ROOT / "tests" / "migrations" / "cases"
TARGET = Release(0, 32)
HELM = """\
    - name: "model-{n}"
      repository: "vllm/vllm-openai"
      tag: "v0.8.5"
      modelURL: "organisation/model-{n}"
      replicaCount: 1
      vllmConfig:
        maxModelLen: 32000
        v1: 1
        extraArgs: ["--disable-log-requests", "--swap-space", "4", "--max-num-seqs", "{n}"]
      env:
        - name: VLLM_ATTENTION_BACKEND
          value: FLASHINFER
"""


def case_files() -> list[Path]:
    return sorted(path for path in CASES.rglob("*") if path.is_file() and path.suffix not in (".sites", ".migrated"))


def copies(folder: Path, count: int) -> None:
    cases = case_files()
    for number in range(count):
        case = cases[number % len(cases)]
        target = folder / str(number // 100)
        target.mkdir(exist_ok=True)
        (target / f"{number}-{case.name}").write_bytes(case.read_bytes() + f"\n# {number}\n".encode())


OTHER = """\
  panel-{n}:
    title: "Tokens per second of model {n}"
    query: 'sum(rate(vllm:generation_tokens_total{{model="model-{n}"}}[5m]))'
    labels: {{team: "team-{n}", tier: gold, page: "yes"}}
    thresholds: [10, 20, 30]
"""


def helm(folder: Path, size: int, engines: int) -> Path:
    """A values file of at least so many bytes, with that many engines and other keys."""
    parts = ["servingEngineSpec:\n  modelSpec:\n", *(HELM.format(n=n) for n in range(engines)), "dashboards:\n"]
    length = sum(map(len, parts))
    while length < size:
        parts.append(OTHER.format(n=len(parts)))
        length += len(parts[-1])
    path = folder / "values.yaml"
    path.write_text("".join(parts))
    return path


def walked(folder: Path) -> float:
    begun = time.perf_counter()
    for found in find([str(folder)]):
        migrate_file(found, Wanted(TARGET))
    return time.perf_counter() - begun


def rows(count: int) -> Iterator[tuple[str, float, float]]:
    """What, seconds, the most it should take."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        script = folder / "run.sh"
        script.write_text("vllm serve org/model --swap-space 4 --max-model-len 4096\n")
        command = [sys.executable, "-m", "appliance", "migrate", str(script)]
        times = []
        for _ in range(5):
            begun = time.perf_counter()
            subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
            times.append(time.perf_counter() - begun)
        yield "cold `appliance migrate FILE`, median of 5", sorted(times)[2], 0.5
        many = folder / "many"
        many.mkdir()
        copies(many, count // 4)
        quarter = walked(many)
        copies(many, count)
        yield f"{count // 4} files of mixed dialects", quarter, 10 * count / 4000
        yield f"{count} files of mixed dialects", walked(many), 10 * count / 1000
        for engines, most in ((1000, 3), (13_000, 30)):
            path = helm(folder, 5 * 2**20, engines)
            begun = time.perf_counter()
            result = migrate_file(next(iter(find([str(path)]))), Wanted(TARGET))
            seconds = time.perf_counter() - begun
            yield f"Helm values, {len(result.text) >> 20} MB, {len(result.outcomes)} engines", seconds, most


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=1000)
    for what, seconds, most in rows(parser.parse_args().files):
        print(f"{what:50} {seconds:7.2f} s   (at most {most:g} s)", flush=True)


if __name__ == "__main__":
    main()
