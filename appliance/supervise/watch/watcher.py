"""Reports files whose content changed. The file system's events say when to look; content alone says what is new.

An editor's swap and backup files, a save without an edit and a link turned to equal content are therefore never
reported. Besides, every file's status is looked at once a TICK: that finds what no event told (network file systems,
folders replaced as a whole).
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing, suppress
from pathlib import Path

from watchfiles import Change as Event
from watchfiles import awatch

from .change import Change, Content, compare, look
from .folders import Folder, folders

SETTLE = 0.02
"""Seconds without an event until a burst of them counts as over."""
LONGEST_BURST = 0.5
"""Seconds after which a burst that does not end is looked at all the same."""
TICK = 1.0
ABSENCE = 0.25
"""Seconds that a file must be away to be reported: some editors remove the old file before they write the new."""

Callback = Callable[[Change], Awaitable[None]]
Say = Callable[[str], None]


class Watcher:
    """Content at construction is the first state that later content is compared with: construct it before reading.

    `callback` is awaited for one change after the other; what happens meanwhile is found afterwards. `say` gets a
    sentence when events stop working and only the look once a tick is left. `polling` leaves events out at once.
    """

    def __init__(
        self, watched: Mapping[Path, str], callback: Callback, say: Say, polling: bool = False, tick: float = TICK
    ) -> None:
        self._callback, self._say, self._polling, self._tick = callback, say, polling, tick
        self._watched: dict[Path, str] = {}
        self._known: dict[Path, Content] = {}
        self._renew = asyncio.Event()
        self.replace(watched)

    @property
    def watched(self) -> dict[Path, str]:
        return dict(self._watched)

    def replace(self, watched: Mapping[Path, str]) -> None:
        """Takes effect at once. Files that stay keep what they are compared with; others begin as they are now."""
        self._known = {path: self._known.get(path) or look(path) for path in watched}
        self._watched = dict(watched)
        self._renew.set()

    def reading(self, path: Path) -> None:
        """Somebody reads the file for himself from now on: what it holds is no news, whatever is saved later is."""
        if path in self._known:
            self._known[path] = look(path, self._known[path])

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            self._renew.clear()
            wanted = await self.check()
            async with aclosing(self._signs(wanted)) as signs:
                async for replaced in signs:
                    if await self.check() != wanted or replaced or self._renew.is_set():
                        break

    async def check(self) -> frozenset[Folder]:
        """Looks at every file now, reports what is new, and says which folders tell about them."""
        now, wanted = await asyncio.to_thread(self._look)
        if any(content.digest is None and _there(self._known.get(path)) for path, content in now.items()):
            await asyncio.sleep(ABSENCE)
            now, wanted = await asyncio.to_thread(self._look)
        for path, content in now.items():
            source, before = self._watched.get(path), self._known.get(path)
            if source is None or before is None:
                continue
            self._known[path] = content
            if change := compare(source, path, before, content):
                await self._callback(change)
        return wanted

    def _look(self) -> tuple[dict[Path, Content], frozenset[Folder]]:
        known = dict(self._known)
        now = {path: look(path, before) for path, before in known.items()}
        return now, frozenset(folder for path in known for folder in folders(path))

    async def _signs(self, wanted: frozenset[Folder]) -> AsyncGenerator[bool, None]:
        """One item whenever it is time to look; True = a watched folder is gone, and what has its name is another."""
        paths = {folder.path for folder in wanted}
        if paths and not self._polling:
            try:
                async with aclosing(_events(paths, self._renew, self._tick)) as events:
                    async for happened in events:
                        yield any(kind is Event.deleted and path in paths for kind, path in happened)
                return
            except FileNotFoundError:
                pass
            except (OSError, RuntimeError) as error:
                self._polling = True
                self._say(
                    f"no events from the file system ({error}): files are looked at once in {self._tick:g} s instead"
                )
        while not self._renew.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(self._tick):
                    await self._renew.wait()
            yield False


def _there(content: Content | None) -> bool:
    return content is not None and content.digest is not None


def _events(paths: set[str], stop: asyncio.Event, tick: float) -> AsyncGenerator[set[tuple[Event, str]], None]:
    return awatch(
        *sorted(paths),
        watch_filter=None,
        debounce=round(LONGEST_BURST * 1000),
        step=round(SETTLE * 1000),
        rust_timeout=round(tick * 1000),
        yield_on_timeout=True,
        stop_event=stop,
        recursive=False,
        ignore_permission_denied=True,
    )
