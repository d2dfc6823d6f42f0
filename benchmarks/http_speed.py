"""Chat over HTTP at 1, 8 and 32 clients: the appliance beside vLLM's CPU server on the same weights."""

import itertools

from models import smollm2_folder
from options import Options, parse, peer_executable
from servers import appliance, vllm
from table import Row, compare, publish, side_by_side
from traffic import chat, rate

CELLS = ((1, 2), (8, 16), (32, 64))
"""(clients, requests a run)"""


def run(options: Options) -> list[Row]:
    model = smollm2_folder(options.workdir)
    seeds = itertools.count(1)
    send = chat(tokens=64, prompt_words=210)
    rows = []
    executable = peer_executable(options)
    with vllm(executable, model, options.workdir) as (peer, _), appliance(model, options.workdir) as (own, _):
        for clients, requests in CELLS:
            peer_runs, own_runs = side_by_side(
                options.runs,
                lambda c=clients, r=requests: rate(peer, send, c, r, next(seeds)),
                lambda c=clients, r=requests: rate(own, send, c, r, next(seeds)),
            )
            work = f"chat x{clients}, 300-token prompts, 64 out"
            rows.append(compare(work, "tok/s", "vLLM CPU", peer_runs, own_runs))
    return rows


if __name__ == "__main__":
    publish("http", run(parse(__doc__)))
