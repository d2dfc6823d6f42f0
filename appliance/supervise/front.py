"""What clients see: the listening socket and the API servers behind it, exchanged together when either changes."""

import asyncio
import contextlib
import os
import shutil
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from appliance.diagnostics import Position
from appliance.plan import Plan
from appliance.plan.units import plural
from appliance.server import board
from appliance.server.config import ServerConfig
from appliance.server.control import Leave
from appliance.supervise import probe
from appliance.supervise.crew import ONCE, Crew, Fell
from appliance.supervise.keeper import Keeper, Listener
from appliance.supervise.listener import listen
from appliance.supervise.process import Role
from appliance.supervise.restart import RestartPolicy
from appliance.supervise.server_control import ServerControl, ServerGone, ServerRefused
from appliance.supervise.server_group import ANSWER_SECONDS, ServerGroup

SERVER = "appliance.server.main"
SERVER_GRACE = 4.0
"""Seconds past the drain time until a server that is still there is killed."""
ENTER_SECONDS = 120.0
"""For new servers to start, and to find that they can serve."""


@dataclass
class Side:
    """One socket and the servers that accept from it."""

    socket: socket.socket
    keepers: list[Keeper] = field(default_factory=list)
    count: int = 1
    """Servers."""
    board: int | None = None
    """File descriptor of the memory that several of them share; each inherits it at every start."""

    def close(self) -> None:
        if self.board is not None:
            os.close(self.board)
            self.board = None


@dataclass
class Front:
    crew: Crew
    listener: Listener
    policy: RestartPolicy
    runtime: Path
    """Private folder."""
    override: str | None = None
    """--bind: stands above what any profile says."""
    module: str = SERVER
    side: Side | None = None
    _next: Side | None = None
    _left: Side | None = None
    _leaving: set[asyncio.Task[None]] = field(default_factory=set)
    _made: int = 0

    @property
    def overridden(self) -> frozenset[str]:
        """Fields above which the command line stands."""
        return frozenset({"security.bind"} if self.override is not None else ())

    @property
    def listening(self) -> socket.socket:
        assert self.side is not None, "not opened"
        return self.side.socket

    def open(self, bind: str, count: int, position: Callable[[str], Position]) -> socket.socket:
        """For the first boot, of `count` servers. ApplianceError AP0601 when the address cannot be had."""
        self.side = Side(self._bind(bind, position), count=count)
        return self.listening

    def start(self, group: ServerGroup, config: ServerConfig) -> None:
        """The first servers."""
        assert self.side is not None, "not opened"
        self.side.keepers = self._make(group, config, self.side)
        group.config, group.keepers = config, self.side.keepers
        for keeper in self.side.keepers:
            self.crew.start(keeper)

    def ask(self, before: Plan, after: Plan, position: Callable[[str], Position]) -> None:
        """Takes the new address, before anything else is tried. ApplianceError AP0601: nothing has changed."""
        bind, count = after.value("security.bind"), after.value("parallelism.api_servers")
        same = self.override is not None or before.value("security.bind") == bind
        self._next = Side(
            self.listening if same else listen(bind, position("security.bind"), instead="security.bind: "), count=count
        )

    async def enter(self, group: ServerGroup) -> str:
        """New servers with the group's configuration accept on the new socket; the old ones are asked nothing more.

        Raises Fell when they cannot serve: `stay` undoes it.
        """
        assert self._next is not None and self.side is not None and group.config is not None, "not asked"
        new, old = self._next, self.side
        new.keepers = self._make(group, group.config, new)
        for keeper in new.keepers:
            keeper.policy = ONCE
            self.crew.start(keeper)
        self._left, self.side = old, new
        group.keepers = new.keepers
        await self.crew.ready(new.keepers, ENTER_SECONDS)
        await self._serves(new)
        host, port = new.socket.getsockname()[:2]
        return f"{host}:{port}, {plural(new.count, 'server')}"

    async def stay(self, group: ServerGroup) -> None:
        """The old side is the one that counts, and what was taken for the new one is given back."""
        new, self._next = self._next, None
        if self._left is not None:
            self.side, self._left = self._left, None
            group.keepers = self.side.keepers
        if new is not None:
            await self.crew.stop(new.keepers, SERVER_GRACE)
            new.close()
            if self.side is None or new.socket is not self.side.socket:
                new.socket.close()

    def leave(self, drain_seconds: float) -> None:
        """The old side ends in the background: what runs there finishes."""
        left, self._left, self._next = self._left, None, None
        if left is None or self.side is None:
            return
        self.crew.rely(self.side.keepers, self.policy)
        if left.socket is not self.side.socket:
            left.socket.close()
        task = asyncio.create_task(self._end(left, drain_seconds))
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)

    async def _end(self, left: Side, drain_seconds: float) -> None:
        """Told to leave: a connection that is open is answered, what comes new finds the other servers."""
        self.crew.let_go(left.keepers)

        async def ask(keeper: Keeper) -> None:
            assert keeper.control is not None, "a server's role talks"
            with contextlib.suppress(ServerGone, ServerRefused):
                await keeper.control.ask(lambda number: Leave(reference=number, seconds=drain_seconds), ANSWER_SECONDS)

        await asyncio.gather(*(ask(keeper) for keeper in left.keepers))
        await self.crew.gone(left.keepers, drain_seconds + SERVER_GRACE)
        await self.crew.stop(left.keepers, SERVER_GRACE)
        left.close()

    async def left(self) -> None:
        """Until no server is left that was told to leave: those still answer from the engines that they know."""
        while self._leaving:
            await asyncio.wait(set(self._leaving))

    async def close(self, seconds: float) -> None:
        """No new connection; servers get `seconds` to finish, and those that already leave as well."""
        sides = [side for side in (self.side, self._left, self._next) if side is not None]
        for side in sides:
            side.socket.close()
        keepers = [keeper for side in sides for keeper in side.keepers]
        await self.crew.stop(keepers, seconds + SERVER_GRACE)
        for side in sides:
            side.close()
        await asyncio.gather(*self._leaving)

    def _bind(self, bind: str, position: Callable[[str], Position]) -> socket.socket:
        if self.override is not None:
            return listen(self.override, Position("--bind"), "")
        return listen(bind, position("security.bind"))

    def _make(self, group: ServerGroup, config: ServerConfig, side: Side) -> list[Keeper]:
        handle = side.socket.fileno()
        shared, inherits = self._share(side)
        made = []
        for number in range(side.count):
            arguments = ("--fd", str(handle), *shared, *(("--number", str(number)) if shared else ()))
            role = Role("server", self.module, arguments, msgspec.json.encode(config), (handle, *inherits), talks=True)
            made.append(Keeper(role, self.listener, self.policy, control=ServerControl(), greeting=group.greeting))
        return made

    def _share(self, side: Side) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """What several servers have in common: the board on which they see each other's load, and their counters."""
        if side.count == 1:
            return (), ()
        side.board = board.create(side.count)
        self._made += 1
        metrics = self.runtime / f"metrics-{self._made}"
        shutil.rmtree(metrics, ignore_errors=True)
        metrics.mkdir()
        return ("--board", str(side.board), "--servers", str(side.count), "--metrics", str(metrics)), (side.board,)

    async def _serves(self, side: Side) -> None:
        address = probe.local_address(side.socket)
        answer = probe.Readiness(False, "it has not answered yet", False)
        try:
            async with asyncio.timeout(ENTER_SECONDS):
                while not answer.ready:
                    answer = await probe.poll(address)
                    await self.crew.stays(side.keepers, 0.0)
        except TimeoutError as error:
            fact = f"the new servers are not ready after {ENTER_SECONDS:g} s: {answer.reason}"
            raise Fell(side.keepers[0].role, error, fact) from error
