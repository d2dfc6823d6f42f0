"""Asks a repository until it answers, with growing waits, and stops at once where something else is wanted."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tenacity import AsyncRetrying, retry_if_result, wait_exponential_jitter

from appliance.profile.gitops import GitOps

from .ask import make_ask
from .exchange import Answer, Failed
from .look import look
from .standing import Standing

Hear = Callable[[Standing, Answer], None]


@dataclass(frozen=True)
class Bounds:
    """Seconds, and bytes of the repository's copy."""

    answer: float = 120.0
    """A look that takes longer is given up."""
    first_retry: float = 2.0
    longest_retry: float = 300.0
    spread: float = 0.1
    """Share of the interval by which looks differ, so that many appliances do not ask at once."""
    size: int = 256 << 20


class Asking:
    """`hear` is told every answer, also those that say why there is none."""

    def __init__(self, folder: Path, bounds: Bounds, hear: Hear) -> None:
        self._folder, self._bounds, self._hear = folder, bounds, hear
        self._woken = asyncio.Event()
        self._looking: asyncio.Task[Answer] | None = None
        self._wanted: Standing | None = None

    def wake(self) -> None:
        """Ends the pause that is, or the next one."""
        self._woken.set()

    def rest(self) -> None:
        """The next pause is a whole one."""
        self._woken.clear()

    def drop(self) -> None:
        """What is asked for is not wanted any more."""
        self._wanted = None
        if self._looking:
            self._looking.cancel()
        self.wake()

    async def pause(self, seconds: float | None) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._woken.wait()
        self._woken.clear()

    async def answer(self, settings: GitOps, standing: Standing) -> Answer | None:
        """None = it was dropped."""
        self._wanted = standing
        retrying: AsyncRetrying = AsyncRetrying(
            retry=retry_if_result(lambda answer: isinstance(answer, Failed) and self._wanted is standing),
            wait=wait_exponential_jitter(multiplier=self._bounds.first_retry, max=self._bounds.longest_retry),
            sleep=self.pause,
        )
        found: Answer | None = await retrying(self._once, settings, standing)
        return found if self._wanted is standing else None

    async def _once(self, settings: GitOps, standing: Standing) -> Answer | None:
        if self._wanted is not standing:
            return None
        seen = standing.verdict.seen
        self._looking = asyncio.create_task(
            look(
                lambda scratch: make_ask(
                    settings,
                    clone=self._folder / "clone",
                    scratch=scratch,
                    limit=self._bounds.size,
                    known=standing.verdict.tip,
                    before=seen.id if seen else "",
                ),
                self._folder,
                self._bounds.answer,
            )
        )
        try:
            answer = await self._looking
        except asyncio.CancelledError:
            ours = asyncio.current_task()
            if self._wanted is standing or (ours and ours.cancelling()):
                raise
            return None
        standing.checked = time.time()
        self._hear(standing, answer)
        return answer
