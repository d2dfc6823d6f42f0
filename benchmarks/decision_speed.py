"""Decisions over HTTP: 7 questions on a 300-token state, random 33 M Qwen3, the appliance beside vLLM's CPU server."""

import itertools

from models import random_qwen3
from options import Options, parse, peer_executable
from servers import appliance, vllm
from table import Row, compare, publish, side_by_side
from traffic import decision, rate

CELLS = ((1, 3), (32, 32))
"""(clients, requests a run)"""


def run(options: Options) -> list[Row]:
    model = random_qwen3(options.workdir)
    seeds = itertools.count(1)
    send = decision(questions=7, state_words=180)
    rows = []
    executable = peer_executable(options)
    with vllm(executable, model, options.workdir) as (peer, _), appliance(model, options.workdir) as (own, _):
        for clients, requests in CELLS:
            peer_runs, own_runs = side_by_side(
                options.runs,
                lambda c=clients, r=requests: rate(peer, send, c, r, next(seeds)),
                lambda c=clients, r=requests: rate(own, send, c, r, next(seeds)),
            )
            work = f"7 questions, 300-token state, x{clients}"
            rows.append(compare(work, "decisions/s", "vLLM CPU", peer_runs, own_runs, target=3.0))
    return rows


if __name__ == "__main__":
    publish("decisions", run(parse(__doc__)))
