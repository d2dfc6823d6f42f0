"""Elastic expert parallelism: the number of engines inside one vLLM changes while it serves."""

import re
from collections.abc import Iterable

import httpx

from appliance.server.proxy.upstream import Upstream
from appliance.server.states import StateError

SCALE = "/scale_elastic_ep"
DRAIN_SECONDS = 120
SECONDS = 900.0
ENGINES = re.compile(r'^vllm:num_requests_running\{[^}]*engine="(\d+)"', re.MULTILINE)


async def fit(members: Iterable[Upstream], size: int | None) -> None:
    """Until each of them has `size` engines; None = it is not elastic. Raises StateError with vLLM's own words."""
    if size is None:
        return
    for member in members:
        if await _engines(member) != size:
            await _scale(member, size)


async def _engines(member: Upstream) -> int:
    try:
        text = (await member.client.get("/metrics", timeout=SECONDS)).text
    except httpx.HTTPError as error:
        raise StateError(f"vLLM does not say how many engines it has: {error}") from error
    return len(set(ENGINES.findall(text)))


async def _scale(member: Upstream, size: int) -> None:
    body = {"new_data_parallel_size": size, "drain_timeout": DRAIN_SECONDS}
    member.settled.clear()
    try:
        answer = await member.client.post(SCALE, json=body, timeout=SECONDS)
    except httpx.HTTPError as error:
        raise StateError(f"vLLM cannot scale to {size} engines: {error}") from error
    finally:
        member.settled.set()
    if answer.status_code != 200:
        raise StateError(f"vLLM cannot scale to {size} engines: {answer.text[:300]}")
