"""What a state of the server is, and the table of who builds one.

A state is everything made from one ServerConfig. One is current and gets every new request, a candidate may prove
itself beside it, and those before live until the last request they took has been answered. What outlives them all
(connections, queue counts, numbers, the gate that holds new work) is in Shared.
"""

import asyncio
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Protocol, cast

from starlette.types import ASGIApp, Scope

from appliance.server.config import ServerConfig
from appliance.server.shared import Shared

Proof = dict[str, str | float | int | bool]


class StateError(Exception):
    """Why a state cannot be built or has not proven itself, in words for the operator."""


class State(Protocol):
    """Identity is equality. The caller (front.py) counts requests, refuses in a drain, holds, and logs access."""

    config: ServerConfig
    app: ASGIApp
    """The routes, wrapped by `guard.guarded`: CORS, keys, refusals from outside, and the way in for proofs."""
    open_paths: frozenset[str]
    """Answered without a key, during a drain too, and not counted as traffic."""

    @property
    def down(self) -> bool:
        """No engine answers for it now."""
        ...

    def is_work(self, scope: Scope) -> bool:
        """An HTTP request that needs an engine: it waits while new work is held."""
        ...

    def admits(self, scope: Scope) -> bool:
        """Whether the request shows a key; one without is not held but refused by `app`."""
        ...

    async def prove(self, seconds: float, probe: bool) -> Proof:
        """Waits for every engine; with `probe`, sends real requests through `app` (proofs.py). Raises StateError."""
        ...

    def begin(self, before: "State | None") -> None:
        """It becomes current: sets `shared.engines`, takes over the queue's limits, watches its engines."""
        ...

    async def close(self) -> None:
        """After its last request, also for a candidate that was dropped. Releases its connections."""
        ...

    def left_on(self, addresses: frozenset[str]) -> int:
        """Requests of this state that these engines have not finished."""
        ...

    def carry(self, addresses: frozenset[str]) -> int:
        """Moves what `left_on` counts to the current state's engines; how many went. The rest is cut next."""
        ...

    def cut(self, addresses: frozenset[str] | None, why: str) -> int:
        """Ends what runs on these engines (None = all of it) with 503 or an error event; how many that were."""
        ...


Build = Callable[[ServerConfig, Shared, State | None], Awaitable[State]]
"""(config, shared, the current state or None at boot) -> not yet proven. Raises StateError."""

STATES: dict[str, str] = {
    "native": "appliance.server.native",
    "vllm": "appliance.server.proxy",
}
"""Backend -> module with `async def build(config, shared, before)`."""


async def build(config: ServerConfig, shared: Shared, before: State | None) -> State:
    """Raises StateError."""
    module = await asyncio.to_thread(import_module, STATES[config.backend])
    return await cast(Build, module.build)(config, shared, before)
