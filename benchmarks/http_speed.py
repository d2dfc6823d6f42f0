"""Chat over HTTP at 1, 8 and 32 clients: the appliance beside vLLM's CPU server on the same weights.

    python benchmarks/http_speed.py --vllm VENV/bin/vllm
"""

import argparse
import itertools
import tempfile
from pathlib import Path

from models import smollm2_folder
from servers import appliance, vllm
from table import compare, publish, side_by_side
from traffic import chat, rate

CELLS = ((1, 3), (8, 16), (32, 64))
"""(clients, requests a run)"""


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--vllm", type=Path, required=True, help="vllm executable of a venv made by setup_vllm.sh")
    options.add_argument("--runs", type=int, default=5)
    options.add_argument("--workdir", type=Path, default=Path(tempfile.gettempdir()) / "appliance-bench")
    chosen = options.parse_args()
    model = smollm2_folder(chosen.workdir)
    seeds = itertools.count(1)
    send = chat(tokens=64, prompt_words=210)
    rows = []
    with vllm(chosen.vllm, model, chosen.workdir) as (peer, _), appliance(model, chosen.workdir) as (own, _):
        for clients, requests in CELLS:
            peer_runs, own_runs = side_by_side(
                chosen.runs,
                lambda c=clients, r=requests: rate(peer, send, c, r, next(seeds)),
                lambda c=clients, r=requests: rate(own, send, c, r, next(seeds)),
            )
            work = f"chat, {clients} client{'s' * (clients > 1)}, 300-token prompts, 64 out"
            rows.append(compare(work, "tok/s", "vLLM 0.32 CPU", peer_runs, own_runs))
    publish("http", rows)


if __name__ == "__main__":
    main()
