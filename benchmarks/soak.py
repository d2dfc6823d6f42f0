"""Mixed traffic with disconnects and bad requests; then no block, slot, descriptor or growing memory may be left.

python benchmarks/soak.py [--minutes 10] [--clients 12]
"""

import argparse
import asyncio
import contextlib
import random
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil
from models import smollm2_gguf
from servers import appliance
from traffic import decision, words

RESIDENT_GROWTH = 0.05
"""Share by which a process may grow over the second half of the soak."""


@dataclass(frozen=True)
class Sample:
    """One process at one moment."""

    name: str
    resident: int
    descriptors: int


async def stream(client: httpx.AsyncClient, source: random.Random, leave_early: bool) -> None:
    body = {
        "model": "bench",
        "messages": [{"role": "user", "content": words(source, source.randrange(3, 300))}],
        "max_tokens": source.randrange(1, 120),
        "stream": True,
        "seed": source.randrange(1000),
        "n": source.choice([1, 1, 1, 3]),
        "stop": source.choice([None, ["the", "."]]),
    }
    lines = 0
    async with client.stream("POST", "/v1/chat/completions", json=body) as answer:
        async for _ in answer.aiter_lines():
            lines += 1
            if leave_early and lines > source.randrange(1, 20):
                return


async def complete(client: httpx.AsyncClient, source: random.Random) -> None:
    body = {
        "model": "bench",
        "prompt": words(source, source.randrange(1, 200)),
        "max_tokens": source.randrange(1, 60),
        "logprobs": source.choice([None, 0, 5]),
        "top_k": source.choice([0, 20]),
        "repetition_penalty": source.choice([1.0, 1.2]),
    }
    (await client.post("/v1/completions", json=body)).raise_for_status()


async def misbehave(client: httpx.AsyncClient, source: random.Random) -> None:
    bodies = [
        {"model": "bench", "messages": [], "temperature": -1},
        {"model": "bench", "prompt": "word " * 6000},
        {"model": "nobody", "messages": [{"role": "user", "content": "x"}]},
        {"model": "bench", "messages": [{"role": "user", "content": "x"}], "guided_json": {}},
    ]
    answer = await client.post("/v1/chat/completions", json=source.choice(bodies))
    assert 400 <= answer.status_code < 500, answer.text


async def abandon(client: httpx.AsyncClient, source: random.Random) -> None:
    """Leaves in the middle of a request that is not streamed."""
    body = {"model": "bench", "prompt": words(source, 200), "max_tokens": 400, "ignore_eos": True}
    with contextlib.suppress(httpx.TimeoutException):
        await client.post("/v1/completions", json=body, timeout=source.uniform(0.05, 1.0))


async def one_client(url: str, seed: int, until: float, done: dict[str, int]) -> None:
    source = random.Random(seed)
    decide = decision(7, 120)
    async with httpx.AsyncClient(base_url=url, timeout=120) as client:
        while time.monotonic() < until:
            kind = source.choice(["stream", "leave", "complete", "decide", "misbehave", "abandon"])
            if kind in ("stream", "leave"):
                await stream(client, source, kind == "leave")
            elif kind == "complete":
                await complete(client, source)
            elif kind == "decide":
                await decide(client, source)
            elif kind == "misbehave":
                await misbehave(client, source)
            else:
                await abandon(client, source)
            done[kind] = done.get(kind, 0) + 1


def metrics(url: str) -> dict[str, float]:
    """Sum of each metric's samples."""
    found: dict[str, float] = {}
    for line in httpx.get(url + "/metrics").text.splitlines():
        if line and not line.startswith("#"):
            name, value = line.rsplit(" ", 1)
            name = name.split("{", 1)[0]
            found[name] = found.get(name, 0.0) + float(value)
    return found


LOOKS = 5
"""The supervisor asks its servers now and then, over a connection that is open for a moment."""


def samples() -> list[Sample]:
    """The least of several looks at every process."""
    looks = [look()]
    for _ in range(LOOKS - 1):
        time.sleep(0.5)
        looks.append(look())
    return [
        Sample(first.name, min(s.resident for s in same), min(s.descriptors for s in same))
        for first, *rest in zip(*looks, strict=True)
        for same in [(first, *rest)]
    ]


def look() -> list[Sample]:
    children = psutil.Process().children(recursive=True)
    return [
        Sample(next((part for part in child.cmdline() if part.startswith("appliance.")), "supervisor"),
               child.memory_info().rss, child.num_fds())
        for child in children
    ]  # fmt: skip


def settle(url: str) -> dict[str, float]:
    """Waits until nothing runs, at most half a minute."""
    for _ in range(60):
        now = metrics(url)
        if not now["vllm:num_requests_running"] and not now["vllm:num_requests_waiting"]:
            break
        time.sleep(0.5)
    time.sleep(1)
    return metrics(url)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--minutes", type=float, default=10)
    options.add_argument("--clients", type=int, default=12)
    options.add_argument("--workdir", type=Path, default=Path(tempfile.gettempdir()) / "appliance-bench")
    chosen = options.parse_args()
    chosen.workdir.mkdir(parents=True, exist_ok=True)
    done: dict[str, int] = {}

    async def drive(url: str, seconds: float, seed: int) -> None:
        until = time.monotonic() + seconds
        await asyncio.gather(*(one_client(url, seed + client, until, done) for client in range(chosen.clients)))

    # A pool small enough to be touched whole before the middle: pages touched later would look like growth.
    with appliance(smollm2_gguf(), chosen.workdir, kv="128MiB") as (url, _):
        asyncio.run(drive(url, chosen.minutes * 30, seed=0))
        settle(url)
        middle = samples()
        asyncio.run(drive(url, chosen.minutes * 30, seed=1000))
        end = settle(url)
        last = samples()
    print("requests:", dict(sorted(done.items())), "total", sum(done.values()))
    faults = [
        f"{name} is {end[name]:g} with nothing running"
        for name in ("vllm:num_requests_running", "vllm:num_requests_waiting", "vllm:kv_cache_usage_perc")
        if end[name]
    ]
    if end["appliance_engine_free_slots"] != end["appliance_engine_slots"]:
        faults.append(f"{end['appliance_engine_slots'] - end['appliance_engine_free_slots']:g} slots were not freed")
    for before, after in zip(middle, last, strict=True):
        print(f"{after.name}: {before.resident >> 20} -> {after.resident >> 20} MiB,", end=" ")
        print(f"{before.descriptors} -> {after.descriptors} descriptors")
        if after.resident > before.resident * (1 + RESIDENT_GROWTH):
            faults.append(f"{after.name} grew from {before.resident >> 20} to {after.resident >> 20} MiB")
        if after.descriptors > before.descriptors:
            faults.append(f"{after.name} holds {after.descriptors - before.descriptors} more descriptors")
    if faults:
        raise SystemExit("leaks:\n" + "\n".join(faults))
    print("nothing leaked")


if __name__ == "__main__":
    main()
