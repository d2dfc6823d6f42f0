"""From `appliance up` with a cached model to /ready, and a cold `appliance validate`, against the times promised."""

import subprocess
import sys
import time
from pathlib import Path

from models import smollm2_gguf
from options import Options, parse
from servers import appliance
from table import Row, compare, publish

QUICKSTART = Path(__file__).parent.parent / "profiles" / "quickstart.yaml"
BOOT_SECONDS, VALIDATE_SECONDS = 6.0, 0.4


def validate_seconds() -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "appliance", "validate", str(QUICKSTART)], check=True, capture_output=True)
    return time.perf_counter() - start


def boot_seconds(options: Options) -> float:
    with appliance(smollm2_gguf(), options.workdir) as (_, seconds):
        return seconds


def run(options: Options) -> list[Row]:
    boot_seconds(options)
    boots = [boot_seconds(options) for _ in range(options.runs)]
    validations = [validate_seconds() for _ in range(options.runs)]
    promised = {"peer": "promised", "higher_is_better": False}
    return [
        compare("appliance up to /ready, SmolLM2", "s", peer_runs=[BOOT_SECONDS], own_runs=boots, **promised),
        compare("appliance validate, cold", "s", peer_runs=[VALIDATE_SECONDS], own_runs=validations, **promised),
    ]


if __name__ == "__main__":
    publish("start", run(parse(__doc__)))
