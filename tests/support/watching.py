"""A watcher over real files, and what it has reported."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from appliance.supervise.watch import Change, Watcher

DEADLINE = 20.0
TICK = 0.2
QUIET = 0.8
"""Seconds in which a wrong report would have come: more than a tick and a burst."""


@dataclass
class Seen:
    changes: list[Change] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    watcher: Watcher = field(init=False)
    _arrived: asyncio.Event = field(default_factory=asyncio.Event)

    async def note(self, change: Change) -> None:
        self.changes.append(change)
        self._arrived.set()

    async def until(self, count: int) -> list[str]:
        async with asyncio.timeout(DEADLINE):
            while len(self.changes) < count:
                self._arrived.clear()
                await self._arrived.wait()
        return self.texts

    async def quiet(self) -> list[str]:
        await asyncio.sleep(QUIET)
        return self.texts

    @property
    def texts(self) -> list[str]:
        return [f"{change.source} {change.path.name} {change.what}" for change in self.changes]


@asynccontextmanager
async def watching(watched: Mapping[Path, str], polling: bool = False) -> AsyncIterator[Seen]:
    seen = Seen()
    seen.watcher = Watcher(watched, seen.note, seen.said.append, polling, TICK)
    task = asyncio.create_task(seen.watcher.run())
    await asyncio.sleep(0.3)
    try:
        yield seen
    finally:
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled(), task.exception()
