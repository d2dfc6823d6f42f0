"""The asyncio face of one engine process for an API server. No torch; any number of servers may talk to one engine.

async with EngineClient(address) as client:
    await client.wait_ready()
    async with client.generate(requests) as updates:
        async for update in updates: ...
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Self

import msgspec
import zmq
import zmq.asyncio
from tenacity import AsyncRetrying, RetryCallState, wait_fixed
from zmq.utils.monitor import recv_monitor_message

from appliance.engine.answers import Answers, Change
from appliance.engine.protocol import (
    ENCODER,
    FROM_ENGINE,
    Abort,
    AdapterAnswer,
    Drain,
    FromEngine,
    Hello,
    LoadAdapter,
    Outputs,
    Ready,
    Reconfigure,
    Reconfigured,
    Request,
    ResetPrefixCache,
    Stats,
    Submit,
    ToEngine,
    UnloadAdapter,
)
from appliance.engine.streams import EngineDied, UpdateStream

__all__ = ["EngineClient", "EngineDied", "UpdateStream"]

logger = logging.getLogger(__name__)

REPAIR_SECONDS = 1.0
RECONNECT_MS = 50
HEARTBEAT_MS = 2_000
HEARTBEAT_TIMEOUT_MS = 20_000
GONE = f"the engine process is gone, or was silent for {HEARTBEAT_TIMEOUT_MS // 1000} s"
EVENTS = zmq.EVENT_HANDSHAKE_SUCCEEDED | zmq.EVENT_DISCONNECTED


class EngineClient:
    """`ready` is None while the engine is down; `reason` then says why. It reconnects by itself until closed."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.ready: Ready | None = None
        self.reason = "the engine has not answered yet"
        self.stats: Stats | None = None
        self.heard = 0
        """Messages from the engine so far."""
        self._up = asyncio.Event()
        self._streams: dict[str, UpdateStream] = {}
        self._answers = Answers()
        self._tasks: list[asyncio.Task[None]] = []
        self._context: zmq.asyncio.Context | None = None

    async def start(self) -> None:
        """Returns at once; the connection comes about when the engine does."""
        assert self._context is None, "started twice"
        self._context = zmq.asyncio.Context()
        self._socket = self._context.socket(zmq.DEALER)
        self._socket.set_hwm(0)
        self._socket.linger = 0
        self._socket.immediate = 1
        self._socket.reconnect_ivl = RECONNECT_MS
        self._socket.heartbeat_ivl = HEARTBEAT_MS
        self._socket.heartbeat_timeout = HEARTBEAT_TIMEOUT_MS
        self._monitor = self._socket.get_monitor_socket(EVENTS)
        self._socket.connect(self.address)
        self._tasks = [asyncio.create_task(self._keep(work)) for work in (self._read, self._watch)]

    async def close(self) -> None:
        """Unfinished requests are aborted, their streams raise EngineDied."""
        if self._context is None:
            return
        self._abort([name for name in self._streams if self.ready is not None])
        self._down("the client was closed")
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._socket.disable_monitor()
        self._monitor.close(linger=0)
        self._socket.close(linger=500)
        self._context.term()
        self._context = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def wait_ready(self, timeout: float | None = None) -> Ready:
        """Raises TimeoutError after `timeout` seconds."""
        async with asyncio.timeout(timeout):
            while self.ready is None:
                await self._up.wait()
        return self.ready

    def submit(self, requests: Sequence[Request]) -> dict[str, UpdateStream]:
        """One stream per request id. The requests enter the engine's queue together.

        Raises EngineDied while the engine is down, ValueError for an id that is already running here.
        """
        streams = {request.request_id: UpdateStream([request.request_id], self._forget) for request in requests}
        self._submit(requests, streams)
        return streams

    def generate(self, requests: Sequence[Request]) -> UpdateStream:
        """Like `submit`, with the updates of all requests in one stream, as they come."""
        stream = UpdateStream([request.request_id for request in requests], self._forget)
        self._submit(requests, dict.fromkeys(stream.unfinished, stream))
        return stream

    def greet(self) -> None:
        """The engine answers with where it stands, and ends what ran for this client. Raises EngineDied."""
        self._send(Hello())

    def reset_prefix_cache(self) -> None:
        self._send(ResetPrefixCache())

    async def reconfigure(self, settings: Mapping[str, bool | int | str], timeout: float | None = None) -> None:
        """All of `settings` (EngineConfig fields named in RECONFIGURABLE) hold, and `ready` has the new numbers.

        Raises ValueError with the engine's reason where it refused and nothing changed, EngineDied where it is down,
        TimeoutError after `timeout` seconds; what holds then shows in the next Ready.
        """
        await self._ask(Reconfigure(reference=self._answers.reference(), settings=dict(settings)), timeout)

    async def load_adapter(self, name: str, path: str, timeout: float | None = None) -> None:
        """The LoRA adapter in folder `path` answers to `name`, also where another one did. Raises as `reconfigure`."""
        await self._ask(LoadAdapter(reference=self._answers.reference(), name=name, path=path), timeout)

    async def unload_adapter(self, name: str, timeout: float | None = None) -> None:
        """New requests for `name` are refused at once; returns when the last one has ended. Raises as `reconfigure`."""
        await self._ask(UnloadAdapter(reference=self._answers.reference(), name=name), timeout)

    def drain(self) -> None:
        """The engine finishes what it has, refuses what is new, and exits."""
        self._send(Drain())

    def _submit(self, requests: Sequence[Request], streams: dict[str, UpdateStream]) -> None:
        if len(streams) != len(requests) or not streams.keys().isdisjoint(self._streams):
            raise ValueError(f"request ids must be unique: {[request.request_id for request in requests][:8]}")
        if self.ready is None:
            raise EngineDied(self.reason)
        self._send(Submit(list(requests)))
        self._streams.update(streams)

    def _forget(self, request_ids: Iterable[str], abort: bool) -> None:
        known = [name for name in request_ids if self._streams.pop(name, None) is not None]
        if abort:
            self._abort(known)

    def _abort(self, request_ids: list[str]) -> None:
        if request_ids:
            with contextlib.suppress(EngineDied):
                self._send(Abort(request_ids))

    def _send(self, message: ToEngine) -> None:
        """Never waits: without a connection there is nobody to wait for."""
        if self._context is None:
            raise EngineDied("the client is not started")
        sent = asyncio.ensure_future(self._socket.send(ENCODER.encode(message), zmq.NOBLOCK))
        if sent.exception() is not None:
            raise EngineDied("the connection to the engine is gone")

    async def _ask(self, change: Change, timeout: float | None) -> None:
        if self.ready is None:
            raise EngineDied(self.reason)
        await self._answers.to(change, self._send, timeout)

    async def _keep(self, work: Callable[[], Awaitable[None]]) -> None:
        """What nobody foresaw takes the client down, not its tasks: it begins anew with a Hello."""
        async for attempt in AsyncRetrying(wait=wait_fixed(REPAIR_SECONDS), before_sleep=self._broke):
            with attempt:
                await work()

    def _broke(self, attempt: RetryCallState) -> None:
        error = attempt.outcome.exception() if attempt.outcome else None
        logger.error("the connection to the engine at %s broke", self.address, exc_info=error)
        self._down(f"the connection to the engine broke: {error!r}")
        with contextlib.suppress(EngineDied):
            self._send(Hello())

    async def _read(self) -> None:
        while True:
            payload = await self._socket.recv()
            self.heard += 1
            try:
                message: FromEngine = FROM_ENGINE.decode(payload)
            except msgspec.DecodeError as error:
                self._down(f"the engine speaks another protocol: {error}")
                continue
            match message:
                case Outputs(updates):
                    for update in updates:
                        stream = self._streams.get(update.request_id)
                        if stream is not None:
                            stream.put(update)
                case Stats():
                    self.stats = message
                case Ready():
                    self.ready = message
                    self.reason = ""
                    self._up.set()
                case Reconfigured() | AdapterAnswer():
                    self._answers.put(message)

    async def _watch(self) -> None:
        while True:
            event = await recv_monitor_message(self._monitor)
            if event["event"] == zmq.EVENT_HANDSHAKE_SUCCEEDED:
                # The event may come a moment before the socket can send: this one waits.
                await self._socket.send(ENCODER.encode(Hello()))
            elif event["event"] == zmq.EVENT_DISCONNECTED:
                await self._read_rest()
                self._down(GONE)

    async def _read_rest(self) -> None:
        """The end of a connection may be heard of before its last messages are read."""
        while await self._socket.poll(0):
            await asyncio.sleep(0)
        await asyncio.sleep(0)

    def _down(self, reason: str) -> None:
        self.ready = None
        self.reason = reason
        self.stats = None
        self._up.clear()
        streams, self._streams = self._streams, {}
        for stream in dict.fromkeys(streams.values()):
            stream.fail(EngineDied(reason))
        self._answers.fail(EngineDied(reason))
