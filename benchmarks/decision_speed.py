"""Decisions over HTTP: 7 questions on a 300-token state, random 33 M Qwen3, the appliance beside vLLM's CPU server."""

import itertools

from models import random_qwen3
from options import Options, parse, peer_executable
from servers import appliance, vllm
from table import Row, compare, measured, publish
from traffic import decision, rate

CELLS = ((1, 3), (32, 32))
"""(clients, requests a run)"""


def run(options: Options) -> list[Row]:
    model = random_qwen3(options.workdir)
    seeds = itertools.count(1)
    send = decision(questions=7, state_words=180)
    executable = peer_executable(options)

    def cells(url: str) -> list[list[float]]:
        return [
            measured(options.runs, lambda c=clients, r=requests: rate(url, send, c, r, next(seeds)))
            for clients, requests in CELLS
        ]

    # One server at a time: an idle vLLM beside it cost the appliance a third of its speed on two cores.
    with vllm(executable, model, options.workdir) as (url, _):
        peer = cells(url)
    with appliance(model, options.workdir) as (url, _):
        own = cells(url)
    rows = []
    for (clients, _), peer_runs, own_runs in zip(CELLS, peer, own, strict=True):
        work = f"7 questions, 300-token state, x{clients}"
        rows.append(compare(work, "decisions/s", "vLLM CPU", peer_runs, own_runs, target=3.0))
    return rows


if __name__ == "__main__":
    publish("decisions", run(parse(__doc__)))
