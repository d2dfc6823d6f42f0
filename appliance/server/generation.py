"""One caller's engine requests from admission to their end: places, merged updates, times, aborted leftovers."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack
from typing import Self

from appliance.engine.client import EngineClient, EngineDied, UpdateStream
from appliance.engine.protocol import DRAINING, Request, Update
from appliance.server.admission import Admission
from appliance.server.errors import ApiError, unavailable
from appliance.server.metrics import Metrics
from appliance.server.timing import Timing


class Generation:
    """`async with` submits and in the end aborts; `async for` gives every Update as it comes."""

    def __init__(
        self,
        engine: EngineClient,
        admission: Admission,
        metrics: Metrics,
        running: "set[Generation]",
        requests: list[Request],
    ) -> None:
        self._engine = engine
        self._admission = admission
        self._running = running
        self._cut = False
        self._requests = requests
        self._held = ExitStack()
        self._streams: dict[str, UpdateStream] = {}
        self._timings = {
            request.request_id: Timing(metrics, len(request.prompt), request.sampling.max_tokens)
            for request in requests
        }

    async def __aenter__(self) -> Self:
        tokens = sum(len(request.prompt) for request in self._requests)
        self._ticket = self._held.enter_context(self._admission.enter(len(self._requests), tokens))
        try:
            self._streams = self._engine.submit(self._requests)
        except EngineDied as error:
            self._held.close()
            raise unavailable(f"the engine is not serving: {error}", retry_after=2) from None
        except BaseException:
            self._held.close()
            raise
        self._running.add(self)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._running.discard(self)
        for request_id in self._streams:
            self.finish(request_id, "abort")
        self._held.close()

    def finish(self, request_id: str, reason: str) -> None:
        """The caller needs no more of this request: the engine frees its slot now."""
        self._streams[request_id].close()
        self._timings[request_id].end(reason)

    def cut(self) -> None:
        """Ends it from outside: whoever reads it gets an ApiError 503."""
        self._cut = True
        for request_id in self._streams:
            self.finish(request_id, "abort")

    def __aiter__(self) -> AsyncIterator[Update]:
        streams = list(self._streams.values())
        return self._measured(streams[0]) if len(streams) == 1 else self._merged(streams)

    async def _measured(self, stream: UpdateStream) -> AsyncIterator[Update]:
        try:
            async for update in stream:
                timing = self._timings[update.request_id]
                if timing.observe(update):
                    self._ticket.prefilled(timing.prompt_tokens)
                if update.error == DRAINING:
                    raise unavailable(DRAINING, retry_after=2)
                if update.finish_reason == "error":
                    raise ApiError(500, update.error or "the engine failed on this request")
                yield update
            if self._cut:
                raise unavailable("the server shut down while it answered", retry_after=5)
        except EngineDied as error:
            raise unavailable(f"the engine stopped while it answered: {error}", retry_after=2) from None

    async def _merged(self, streams: list[UpdateStream]) -> AsyncIterator[Update]:
        queue: asyncio.Queue[Update | None] = asyncio.Queue()

        async def pump(stream: UpdateStream) -> None:
            try:
                async for update in self._measured(stream):
                    queue.put_nowait(update)
            finally:
                queue.put_nowait(None)

        tasks = [asyncio.create_task(pump(stream)) for stream in streams]
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
