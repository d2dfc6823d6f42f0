"""Decisions over HTTP: 7 questions on a 300-token state, random 33 M Qwen3, the appliance beside vLLM's CPU server.

    python benchmarks/decision_speed.py --vllm VENV/bin/vllm
"""

import argparse
import itertools
import tempfile
from pathlib import Path

from models import random_qwen3
from servers import appliance, vllm
from table import compare, publish, side_by_side
from traffic import decision, rate

CELLS = ((1, 4), (32, 32))
"""(clients, requests a run)"""


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--vllm", type=Path, required=True, help="vllm executable of a venv made by setup_vllm.sh")
    options.add_argument("--runs", type=int, default=5)
    options.add_argument("--workdir", type=Path, default=Path(tempfile.gettempdir()) / "appliance-bench")
    chosen = options.parse_args()
    model = random_qwen3(chosen.workdir)
    seeds = itertools.count(1)
    send = decision(questions=7, state_words=180)
    rows = []
    with vllm(chosen.vllm, model, chosen.workdir) as (peer, _), appliance(model, chosen.workdir) as (own, _):
        for clients, requests in CELLS:
            peer_runs, own_runs = side_by_side(
                chosen.runs,
                lambda c=clients, r=requests: rate(peer, send, c, r, next(seeds)),
                lambda c=clients, r=requests: rate(own, send, c, r, next(seeds)),
            )
            work = f"7 questions, 300-token state, {clients} client{'s' * (clients > 1)}"
            rows.append(compare(work, "decisions/s", "vLLM 0.32 CPU", peer_runs, own_runs, target=3.0))
    publish("decisions", rows)


if __name__ == "__main__":
    main()
