"""Clients that stream answers one after the other while something happens to the server, and judge each to its end."""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

PATIENCE = 600.0
MOVE_SECONDS = 10.0
"""Within which clients learn of a new address, once nothing listens on the old one."""


@dataclass(frozen=True)
class Ask:
    """A greedy answer of exactly `tokens` tokens, as a chat or as a completion."""

    prompt: str
    tokens: int
    chat: bool = False
    model: str = "bench"

    @property
    def path(self) -> str:
        return "/v1/chat/completions" if self.chat else "/v1/completions"

    @property
    def body(self) -> dict[str, Any]:
        said = {"messages": [{"role": "user", "content": self.prompt}]} if self.chat else {"prompt": self.prompt}
        return {
            **said,
            "model": self.model,
            "max_tokens": self.tokens,
            "temperature": 0,
            "ignore_eos": True,
            "stream": True,
            "stream_options": {"include_usage": True},
        }


@dataclass
class Heard:
    """One answer; times by time.monotonic."""

    number: int
    """Of the Ask."""
    begun: float
    ended: float = 0.0
    text: str = ""
    chunks: list[float] = field(default_factory=list)
    """When each piece of text came."""
    lost: str = ""
    """Refused, failed before its first byte, or cut: how."""
    wrong: str = ""
    """Complete, but not what had to come: how."""

    @property
    def fault(self) -> str:
        return self.lost or self.wrong

    @property
    def seconds(self) -> float:
        return self.ended - self.begun

    @property
    def pause(self) -> float:
        """Longest time between two pieces of text."""
        return max((after - before for before, after in zip(self.chunks, self.chunks[1:], strict=False)), default=0.0)

    @property
    def first(self) -> float:
        """Until the first piece of text."""
        return (self.chunks[0] if self.chunks else self.ended) - self.begun


class Reader:
    """Judges one event stream line by line."""

    def __init__(self, ask: Ask, heard: Heard) -> None:
        self._ask, self.heard = ask, heard
        self._reasons: list[str] = []
        self._usages: list[dict[str, int]] = []
        self._done = self._blank = False

    def line(self, line: str) -> None:
        if not line:
            self._blank = True
            return
        if line.startswith(":"):
            return
        if self._done:
            self._wrong(f"{line!r} after the end")
        if not line.startswith("data: ") or not self._blank:
            self._wrong(f"{line!r} is not an event of its own")
        self._blank = False
        if line == "data: [DONE]":
            self._done = True
            return
        try:
            event = json.loads(line.removeprefix("data: "))
        except ValueError:
            self._wrong(f"{line!r} is not JSON")
            return
        if "error" in event:
            self.heard.lost = f"cut: {event['error']}"
            return
        if event.get("usage"):
            self._usages.append(event["usage"])
        for choice in event["choices"]:
            piece = choice["delta"].get("content") if self._ask.chat else choice["text"]
            if piece:
                if self._reasons:
                    self._wrong(f"text after its end: {piece!r}")
                self.heard.text += piece
                self.heard.chunks.append(time.monotonic())
            if choice["finish_reason"] is not None:
                self._reasons.append(choice["finish_reason"])

    def begin(self) -> None:
        self._blank = True

    def end(self, expected: frozenset[str]) -> None:
        heard = self.heard
        if heard.lost:
            return
        if not self._done:
            heard.lost = f"cut after {len(heard.text)} characters"
        elif self._reasons != ["length"]:
            self._wrong(f"ends with {self._reasons}")
        elif [usage["completion_tokens"] for usage in self._usages] != [self._ask.tokens]:
            self._wrong(f"usage {self._usages} for {self._ask.tokens} tokens")
        elif self._usages[0]["total_tokens"] != self._usages[0]["prompt_tokens"] + self._ask.tokens:
            self._wrong(f"usage {self._usages} does not add up")
        elif expected and heard.text not in expected:
            self._wrong(f"{heard.text!r} is not one of {sorted(expected)!r}")

    def _wrong(self, what: str) -> None:
        self.heard.wrong = self.heard.wrong or what


class Clients:
    """Each goes through the asks from another place on, the next as soon as the last is answered."""

    def __init__(
        self,
        url: Callable[[], str],
        asks: Sequence[Ask],
        clients: int,
        expected: dict[int, frozenset[str]] | None = None,
    ) -> None:
        self._url, self._asks, self._clients = url, tuple(asks), clients
        self.expected = expected or {}
        """Texts that an ask may be answered with; any, where it is not there."""
        self.heard: list[Heard] = []
        """Those that ended, in that order."""
        self._over = False

    @property
    def faults(self) -> list[str]:
        return [f"{self._asks[heard.number].path} {heard.number}: {heard.fault}" for heard in self.heard if heard.fault]

    def stop(self) -> None:
        """What runs is heard to its end."""
        self._over = True

    async def run(self) -> None:
        await asyncio.gather(*(self._one(number) for number in range(self._clients)))

    async def _one(self, place: int) -> None:
        limits = httpx.Limits(max_connections=1)
        async with httpx.AsyncClient(timeout=PATIENCE, limits=limits) as client:
            turn = place
            while not self._over:
                number = turn % len(self._asks)
                self.heard.append(await self.hear(client, number))
                turn += 1

    async def hear(self, client: httpx.AsyncClient, number: int) -> Heard:
        heard = Heard(number, time.monotonic())
        url = self._url()
        try:
            try:
                await self._answer(client, url, heard)
            except httpx.ConnectError:
                if (url := await self._moved(url)) is None:
                    raise
                await self._answer(client, url, heard)
        except httpx.TransportError as error:
            heard.lost = f"{type(error).__name__}: {error} after {len(heard.text)} characters"
        heard.ended = time.monotonic()
        return heard

    async def _answer(self, client: httpx.AsyncClient, url: str, heard: Heard) -> None:
        ask = self._asks[heard.number]
        reader = Reader(ask, heard)
        async with client.stream("POST", f"{url}{ask.path}", json=ask.body) as answer:
            if answer.status_code != 200:
                heard.lost = f"{answer.status_code} {(await answer.aread()).decode(errors='replace')[:300]}"
            elif not answer.headers["content-type"].startswith("text/event-stream"):
                heard.wrong = f"content-type {answer.headers['content-type']}"
            else:
                reader.begin()
                async for line in answer.aiter_lines():
                    reader.line(line)
                reader.end(self.expected.get(heard.number, frozenset()))

    async def _moved(self, url: str) -> str | None:
        """Where the server is now, when it went to another address."""
        deadline = time.monotonic() + MOVE_SECONDS
        while time.monotonic() < deadline:
            if (now := self._url()) != url:
                return now
            await asyncio.sleep(0.05)
        return None


@contextmanager
def streaming(
    url: Callable[[], str], asks: Sequence[Ask], clients: int, expected: dict[int, frozenset[str]] | None = None
) -> Iterator[Clients]:
    """Clients in a thread of their own, from their first answer on; at the end each has heard its last one out."""
    made = Clients(url, asks, clients, expected)
    thread = threading.Thread(target=lambda: asyncio.run(made.run()))
    thread.start()
    try:
        yield made
    finally:
        made.stop()
        thread.join()


def answers(url: str, asks: Sequence[Ask]) -> dict[int, frozenset[str]]:
    """What each ask is answered with by a server at rest, one at a time."""

    async def hear() -> list[Heard]:
        clients = Clients(lambda: url, asks, 1)
        async with httpx.AsyncClient(timeout=PATIENCE) as client:
            return [await clients.hear(client, number) for number in range(len(asks))]

    heard = asyncio.run(hear())
    faults = [one.fault for one in heard if one.fault]
    assert not faults, faults
    return {one.number: frozenset({one.text}) for one in heard}
