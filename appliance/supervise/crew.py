"""The kept processes of one appliance: started, waited for, stopped, and watched for an end that nobody asked for."""

import asyncio
import signal
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from appliance.supervise.keeper import Keeper
from appliance.supervise.process import Role
from appliance.supervise.restart import RestartPolicy
from appliance.supervise.state import State

ONCE = RestartPolicy(limit=1)
"""For what has not proven itself: its first death is its end."""


class Fell(Exception):  # noqa: N818 - what the process did
    """A process that was waited for is not coming (any more). The message says what became of it."""

    def __init__(self, role: Role, cause: BaseException | None, fact: str = "") -> None:
        super().__init__(fact or f"the {role.name} {cause}")
        self.role, self.cause = role, cause


@dataclass
class Crew:
    forced: asyncio.Event = field(default_factory=asyncio.Event)
    """Nobody wants to wait any more."""
    fallen: asyncio.Event = field(default_factory=asyncio.Event)
    """Set with the first end of a vital process."""
    _tasks: dict[Keeper, asyncio.Task[None]] = field(default_factory=dict)
    _vital: set[Keeper] = field(default_factory=set)

    def start(self, keeper: Keeper) -> None:
        task = self._tasks[keeper] = asyncio.create_task(keeper.run())
        task.add_done_callback(lambda _: self._check())

    def rely(self, keepers: Iterable[Keeper], policy: RestartPolicy) -> None:
        """From here on the appliance cannot do without them: they are restarted, and their end is its end."""
        for keeper in keepers:
            keeper.policy = policy
            self._vital.add(keeper)
        self._check()

    def spare(self, keepers: Iterable[Keeper]) -> None:
        """The appliance can do without them now."""
        self._vital.difference_update(keepers)

    def failure(self) -> Fell | None:
        """Of a vital process."""
        for keeper in self._vital:
            if error := self._error(keeper):
                return Fell(keeper.role, error)
        return None

    async def ready(self, keepers: Sequence[Keeper], seconds: float | None = None) -> None:
        """Until all of them are; Fell when one ends instead, or is not ready after `seconds`."""
        waits = {asyncio.ensure_future(keeper.ready.wait()) for keeper in keepers}
        watched = {self._tasks[keeper] for keeper in keepers}
        try:
            async with asyncio.timeout(seconds):
                while waits:
                    done, _ = await asyncio.wait(waits | watched, return_when=asyncio.FIRST_COMPLETED)
                    waits -= done
                    self._check_fallen(keepers)
        except TimeoutError as error:
            late = next((keeper for keeper in keepers if not keeper.ready.is_set()), keepers[0])
            fact = f"the {late.role.name} is not ready after {seconds:g} s"
            raise Fell(late.role, error, fact) from error
        finally:
            for wait in waits:
                wait.cancel()

    async def stays(self, keepers: Sequence[Keeper], seconds: float) -> None:
        """Returns after `seconds`; Fell as soon as one of them ends."""
        await asyncio.wait(
            {self._tasks[keeper] for keeper in keepers}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED
        )
        self._check_fallen(keepers)

    def let_go(self, keepers: Iterable[Keeper]) -> None:
        """They may end by themselves: that is no death."""
        keepers = list(keepers)
        self.spare(keepers)
        for keeper in keepers:
            keeper.let_go()

    async def gone(self, keepers: Iterable[Keeper], seconds: float) -> None:
        """Returns when all of them have ended, or after `seconds`."""
        if running := [self._tasks[keeper] for keeper in keepers if keeper in self._tasks]:
            await asyncio.wait(running, timeout=seconds)

    async def stop(self, keepers: Iterable[Keeper], seconds: float) -> None:
        """SIGTERM, then SIGKILL after `seconds` or when forced. They end by themselves or not: none is left."""
        keepers = list(keepers)
        self.spare(keepers)
        running = {self._tasks[keeper] for keeper in keepers if keeper in self._tasks}
        running = {task for task in running if not task.done()}
        if running:
            for keeper in keepers:
                keeper.stop()
            forced = asyncio.ensure_future(self.forced.wait())
            ended = asyncio.ensure_future(asyncio.wait(running))
            await asyncio.wait([forced, ended], timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            forced.cancel()
            if not ended.done():
                self._kill(keepers)
            await ended
        for keeper in keepers:
            self._forget(keeper)

    async def end(self) -> None:
        """Kills whatever is left. A keeper is told, never cancelled: asyncio can wait for ever for a process whose
        start was cancelled."""
        self._vital.clear()
        keepers = list(self._tasks)
        self._kill(keepers)
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        for keeper in keepers:
            self._forget(keeper)

    def _kill(self, keepers: Iterable[Keeper]) -> None:
        for keeper in keepers:
            keeper.stop(signal.SIGKILL)

    def _forget(self, keeper: Keeper) -> None:
        task = self._tasks.pop(keeper, None)
        if task is not None and task.done() and not task.cancelled():
            task.exception()

    def _error(self, keeper: Keeper) -> BaseException | None:
        task = self._tasks.get(keeper)
        return task.exception() if task is not None and task.done() and not task.cancelled() else None

    def _check(self) -> None:
        if self.failure() is not None:
            self.fallen.set()

    def _check_fallen(self, keepers: Iterable[Keeper]) -> None:
        for keeper in keepers:
            if error := self._error(keeper):
                raise Fell(keeper.role, error)
            if keeper.state is State.STOPPED:
                raise Fell(keeper.role, None, f"the {keeper.role.name} was stopped")
