"""Work that is given up when something else happens first."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from appliance.supervise.failed import Overtaken

T = TypeVar("T")


async def unless(overtaken: Awaitable[None], work: Awaitable[T]) -> T:
    """The work's result. Raises Overtaken, with the work cancelled, where the other one returns first."""
    tasks = asyncio.ensure_future(work), asyncio.ensure_future(overtaken)
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if tasks[0].done():
            return tasks[0].result()
        tasks[1].result()
        raise Overtaken("a newer state was proposed before it had proven itself")
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
