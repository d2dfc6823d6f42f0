"""Load over HTTP: a fixed number of clients, each sending its next request when the last one is answered."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable

import httpx

TEXT = (
    "the quick river carries stone and light over old bridges while people count ships that arrive from distant "
    "harbours with salt copper tea letters maps silk lamps grain wool and rumours about weather prices kings and stars"
)
WORDS = TEXT.split()

Send = Callable[[httpx.AsyncClient, random.Random], Awaitable[int]]
"""Sends one request, returns how many units of work it was (tokens, decisions)."""


def words(source: random.Random, count: int) -> str:
    return " ".join(source.choice(WORDS) for _ in range(count))


def chat(tokens: int, prompt_words: int) -> Send:
    """A chat of about `prompt_words` fresh words and exactly `tokens` generated tokens."""

    async def send(client: httpx.AsyncClient, source: random.Random) -> int:
        body = {
            "model": "bench",
            "messages": [{"role": "user", "content": words(source, prompt_words)}],
            "max_tokens": tokens,
            "temperature": 0,
            "ignore_eos": True,
        }
        answer = await client.post("/v1/chat/completions", json=body)
        answer.raise_for_status()
        return int(answer.json()["usage"]["completion_tokens"])

    return send


def decision(questions: int, state_words: int) -> Send:
    """One decision of several yes-or-no, choice and score questions over a fresh state."""
    kinds = [
        {"type": "noul", "instructions": "Does the letter ask for money?"},
        {
            "type": "choice",
            "instructions": "Who writes?",
            "criteria": {"merchant": "sells", "sailor": None, "king": None},
        },
        {"type": "score", "instructions": "How urgent is it?", "criteria": ["calm", "soon", "at once"]},
    ]

    async def send(client: httpx.AsyncClient, source: random.Random) -> int:
        asked = {f"q{index}": kinds[index % len(kinds)] for index in range(questions)}
        body = {"model": "bench", "state": words(source, state_words), "questions": asked}
        answer = await client.post("/v1/systemone", json=body)
        answer.raise_for_status()
        return 1

    return send


async def _drive(url: str, send: Send, clients: int, requests: int, seed: int) -> float:
    limits = httpx.Limits(max_connections=clients, max_keepalive_connections=clients)
    async with httpx.AsyncClient(base_url=url, timeout=600, limits=limits) as client:
        left = iter(range(requests))

        async def one_client() -> int:
            return sum([await send(client, random.Random(seed * 100_003 + number)) for number in left])

        start = time.perf_counter()
        done = await asyncio.gather(*(one_client() for _ in range(clients)))
        return sum(done) / (time.perf_counter() - start)


def rate(url: str, send: Send, clients: int, requests: int, seed: int) -> float:
    """Units of work per second. A seed never used before on this server keeps its prefix cache from helping."""
    return asyncio.run(_drive(url, send, clients, requests, seed))
