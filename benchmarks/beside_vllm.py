"""A load over HTTP at several numbers of clients: vLLM's CPU server first, then the appliance, on the same weights."""

import itertools
from pathlib import Path

from options import Options, peer_executable
from servers import appliance, vllm
from table import Row, compare, measured
from traffic import Send, rate

Cell = tuple[int, int]
"""(clients, requests a run)"""


def beside_vllm(
    options: Options, model: Path, send: Send, cells: tuple[Cell, ...], work: str, unit: str, target: float = 1.0
) -> list[Row]:
    """One row a cell. One server at a time: on two cores an idle vLLM cost the appliance a third of its speed."""
    seeds = itertools.count(1)

    def runs(url: str) -> list[list[float]]:
        return [
            measured(options.runs, lambda c=clients, r=requests: rate(url, send, c, r, next(seeds)))
            for clients, requests in cells
        ]

    with vllm(peer_executable(options), model, options.workdir) as (url, _):
        peer = runs(url)
    with appliance(model, options.workdir) as (url, _):
        own = runs(url)
    return [
        compare(f"{work}, x{clients}", unit, "vLLM CPU", peer_runs, own_runs, target=target)
        for (clients, _), peer_runs, own_runs in zip(cells, peer, own, strict=True)
    ]
