"""Chat over HTTP at 1, 8 and 32 clients: the appliance beside vLLM's CPU server on the same weights."""

import itertools

from models import smollm2_folder
from options import Options, parse, peer_executable
from servers import appliance, vllm
from table import Row, compare, measured, publish
from traffic import chat, rate

CELLS = ((1, 2), (8, 16), (32, 64))
"""(clients, requests a run)"""


def run(options: Options) -> list[Row]:
    model = smollm2_folder(options.workdir)
    seeds = itertools.count(1)
    send = chat(tokens=64, prompt_words=210)
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
        work = f"chat x{clients}, 300-token prompts, 64 out"
        rows.append(compare(work, "tok/s", "vLLM CPU", peer_runs, own_runs))
    return rows


if __name__ == "__main__":
    publish("http", run(parse(__doc__)))
