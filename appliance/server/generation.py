"""One caller's engine requests from admission to their end: places, merged updates, moves, aborted leftovers."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import ExitStack
from typing import Self

from appliance.engine.client import EngineDied
from appliance.engine.protocol import DRAINING, Request, Update
from appliance.server.admission import Admission
from appliance.server.errors import ApiError, unavailable
from appliance.server.moving import Road
from appliance.server.pool import Replica
from appliance.server.sequence import Sequence
from appliance.server.timing import Timing

logger = logging.getLogger("appliance.server")


class Generation:
    """`async with` submits and in the end aborts; `async for` gives every Update as it comes.

    All requests are on one replica together. When that ends or dies they go on elsewhere where `road` knows a place.
    """

    def __init__(
        self,
        road: Road,
        admission: Admission,
        running: "set[Generation]",
        requests: list[Request],
    ) -> None:
        self._road = road
        self._admission = admission
        self._running = running
        self._requests = requests
        self._held = ExitStack()
        self._replica: Replica | None = None
        self._fingerprint = ""
        self._cut: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._sequences = {
            request.request_id: Sequence(request, Timing(len(request.prompt), request.sampling.max_tokens))
            for request in requests
        }

    async def __aenter__(self) -> Self:
        tokens = sum(len(request.prompt) for request in self._requests)
        self._ticket = self._held.enter_context(self._admission.enter(len(self._requests), tokens))
        # while it waits for an engine, too, a shutdown has to find it
        self._running.add(self)
        self._held.callback(self._running.discard, self)
        try:
            replica = await self._road.first(self._requests[0], self._cut)
            numbers = self._road.numbers(replica)
            for sequence in self._sequences.values():
                sequence.timing.numbers = numbers
            self._place(replica, list(self._sequences.values()), self._requests)
        except EngineDied as error:
            self._held.close()
            raise unavailable(f"the engine is not serving: {error}", retry_after=2) from None
        except BaseException:
            self._held.close()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        for sequence in self._sequences.values():
            sequence.end("abort")
        self._cut.cancel()
        self._leave()
        self._held.close()

    def finish(self, request_id: str, reason: str) -> None:
        """The caller needs no more of this request: the engine frees its slot now."""
        self._sequences[request_id].end(reason)

    def left_on(self, addresses: frozenset[str]) -> int:
        """Requests that these engines still work on."""
        return sum(sequence.on_engine for sequence in self._on(addresses))

    def carry(self, addresses: frozenset[str]) -> int:
        """Takes what is unfinished away from these engines; it goes on where the road leads. How many that are."""
        taken = [sequence for sequence in self._on(addresses) if sequence.on_engine]
        for sequence in taken:
            sequence.leave()
        return len(taken)

    def cut(self, why: str) -> int:
        """Ends it from outside: whoever reads it gets an ApiError 503 that says why. How many requests were left."""
        left = [sequence for sequence in self._sequences.values() if not sequence.over]
        if not self._cut.done():
            self._cut.set_result(why)
        for sequence in left:
            sequence.end("abort")
        return len(left)

    def _on(self, addresses: frozenset[str]) -> list[Sequence]:
        return [s for s in self._sequences.values() if s.replica is not None and s.replica.address in addresses]

    def _place(self, replica: Replica, sequences: list[Sequence], requests: list[Request]) -> None:
        """Raises EngineDied."""
        streams = replica.client.submit(requests)
        if replica is not self._replica:
            self._road.pool.keep(replica)
            self._leave()
            self._replica = replica
            assert replica.client.ready is not None
            self._fingerprint = replica.client.ready.weights_fingerprint
        for sequence in sequences:
            sequence.enter(replica, streams[sequence.request.request_id])

    def _leave(self) -> None:
        if self._replica is not None:
            self._road.pool.release(self._replica)
        self._replica = None

    async def _move(self, sequence: Sequence, left: Replica | None) -> Update | None:
        """To where the other requests of this caller went before it. Raises EngineDied, ApiError 503 once it was cut.

        An update where the next engine has no room for more, as its last one.
        """
        replica = self._replica
        if replica is None or replica is left or not replica.open:
            replica = await self._road.next(sequence.request, left, self._fingerprint, self._cut)
            if self._replica is not None and self._replica.open and self._replica is not left:
                replica = self._replica
        if replica.client.ready is None:
            raise EngineDied(replica.client.reason)
        request = sequence.continued(replica.client.ready.max_context)
        if request.sampling.max_tokens <= len(sequence.generated):
            return Update(request_id=request.request_id, finish_reason="length")
        self._place(replica, [sequence], [request])
        return None

    def __aiter__(self) -> AsyncIterator[Update]:
        sequences = list(self._sequences.values())
        return self._updates(sequences[0]) if len(sequences) == 1 else self._merged(sequences)

    async def _updates(self, sequence: Sequence) -> AsyncIterator[Update]:
        left: Replica | None = None
        while not sequence.over:
            try:
                if sequence.stream is None:
                    last = await self._move(sequence, left)
                    if last is not None:
                        yield self._noted(sequence, last)
                    continue
                left = sequence.replica
                async for update in sequence.stream:
                    if update.error == DRAINING:
                        raise EngineDied(DRAINING)
                    yield self._noted(sequence, update)
            except EngineDied as error:
                died = sequence.replica
                sequence.leave()
                if died is None or not self._road.leads_on(died, self._fingerprint):
                    drains = str(error) == DRAINING
                    why = DRAINING if drains else f"the engine stopped while it answered: {error}"
                    raise unavailable(why, retry_after=2) from None
                logger.warning("a request goes on elsewhere after %d tokens: %s", len(sequence.generated), error)
        if self._cut.done():
            raise unavailable(self._cut.result(), retry_after=5)

    def _noted(self, sequence: Sequence, update: Update) -> Update:
        if sequence.timing.observe(update):
            self._ticket.prefilled(sequence.timing.prompt_tokens)
        update = sequence.note(update)
        if update.finish_reason == "error":
            raise ApiError(500, update.error or "the engine failed on this request")
        return update

    async def _merged(self, sequences: list[Sequence]) -> AsyncIterator[Update]:
        queue: asyncio.Queue[Update | None] = asyncio.Queue()

        async def pump(sequence: Sequence) -> None:
            try:
                async for update in self._updates(sequence):
                    queue.put_nowait(update)
            finally:
                queue.put_nowait(None)

        tasks = [asyncio.create_task(pump(sequence)) for sequence in sequences]
        try:
            running = len(tasks)
            while running:
                update = await queue.get()
                if update is not None:
                    yield update
                    continue
                running -= 1
                for task in tasks:
                    if task.done() and not task.cancelled():
                        task.result()
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
