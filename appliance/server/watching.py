"""Tasks that run beside the requests for the life of a state."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from tenacity import AsyncRetrying, RetryCallState, wait_exponential

logger = logging.getLogger("appliance.server")


async def keep(watch: Callable[[], Awaitable[None]]) -> None:
    """Starts a watch anew that failed: nobody awaits it, so its end would show nowhere."""

    def tell(state: RetryCallState) -> None:
        assert state.outcome is not None
        logger.error("a watch failed and is started again", exc_info=state.outcome.exception())

    await AsyncRetrying(wait=wait_exponential(max=30), before_sleep=tell)(watch)


class Watches:
    """Started once, ended once."""

    def __init__(self) -> None:
        self._tasks: list[asyncio.Task[None]] = []

    def start(self, *watches: Callable[[], Awaitable[None]]) -> None:
        self._tasks += [asyncio.create_task(keep(watch)) for watch in watches]

    def cancel(self) -> None:
        for task in self._tasks:
            task.cancel()

    async def stop(self) -> None:
        self.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks.clear()
