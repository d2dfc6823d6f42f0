"""The engine's loop between socket and scheduler: messages in, one step, one message of updates per server."""

import logging
import signal
import socket
import time
from types import FrameType
from typing import Self

import msgspec
import zmq
from zmq.utils.monitor import parse_monitor_message

from appliance.engine.changes import Changes
from appliance.engine.core.engine import Engine
from appliance.engine.protocol import (
    DRAINING,
    ENCODER,
    TO_ENGINE,
    Abort,
    Drain,
    FromEngine,
    Hello,
    LoadAdapter,
    Outputs,
    Ready,
    Reconfigure,
    Request,
    ResetPrefixCache,
    Stats,
    Submit,
    ToEngine,
    UnloadAdapter,
    Update,
)

logger = logging.getLogger(__name__)

STATS_SECONDS = 0.25
IDLE_MS = 1_000
PROBE_SECONDS = 1.0
"""How long after a lost connection every server is sent statistics: its going shows only in a failing send."""
MESSAGES_PER_STEP = 256
"""A flood of messages delays the running requests by this many at most."""
HEARTBEAT_MS = 2_000
HEARTBEAT_TIMEOUT_MS = 20_000
LINGER_MS = 1_000


class Worker:
    """Owns the socket. A server is known from its first message until a send finds it gone; then its requests end."""

    def __init__(self, address: str, engine: Engine, ready: Ready) -> None:
        """Binds; zmq.ZMQError where the address cannot be had."""
        self._engine = engine
        self._changes = Changes(engine, ready)
        self._announced = self._changes.ready
        self._servers: set[bytes] = set()
        self._draining = False
        self._stats: Stats | None = None
        self._stats_due = 0.0
        self._probe_until = 0.0
        self._checked = False
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.ROUTER)
        self._socket.set_hwm(0)
        self._socket.router_mandatory = 1
        self._socket.heartbeat_ivl = HEARTBEAT_MS
        self._socket.heartbeat_timeout = HEARTBEAT_TIMEOUT_MS
        self._monitor = self._socket.get_monitor_socket(zmq.EVENT_DISCONNECTED)
        self._handles_signals = False
        self._wake_in, self._wake_out = socket.socketpair()
        self._wake_in.setblocking(False)
        self._wake_out.setblocking(False)
        try:
            self._socket.bind(address)
        except zmq.ZMQError:
            self.close()
            raise
        self._poller = zmq.Poller()
        for source in (self._socket, self._monitor, self._wake_out):
            self._poller.register(source, zmq.POLLIN)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """The last updates get a moment to leave."""
        self._socket.disable_monitor()
        self._monitor.close(linger=0)
        self._socket.close(linger=LINGER_MS)
        self._context.term()
        if self._handles_signals:
            signal.set_wakeup_fd(-1)
        self._wake_in.close()
        self._wake_out.close()

    def drain_on_sigterm(self) -> None:
        """Main thread only. A second SIGTERM ends the process as usual."""

        def drain(number: int, _: FrameType | None) -> None:
            self._draining = True
            signal.signal(number, signal.SIG_DFL)

        self._handles_signals = True
        signal.signal(signal.SIGTERM, drain)
        signal.set_wakeup_fd(self._wake_in.fileno(), warn_on_full_buffer=False)

    def run(self) -> None:
        """Until drained. Raises what Engine.step raises; updates of earlier steps are out by then."""
        engine = self._engine
        while True:
            busy = engine.has_work
            if self._draining and not busy:
                return
            self._receive(0 if busy else self._patience_ms())
            if engine.has_work:
                self._checked = False
                for server, updates in engine.step().items():
                    self._send(server, Outputs(updates))
            for server, answer in self._changes.late_answers():
                self._send(server, answer)
            self._report()

    def _patience_ms(self) -> int:
        """How long an idle engine may sleep: not past statistics that are still owed."""
        now = time.monotonic()
        if now < self._probe_until or self._engine.stats() != self._stats:
            return max(0, int((self._stats_due - now) * 1000) + 1)
        return IDLE_MS

    def _receive(self, timeout_ms: int) -> None:
        ready = dict(self._poller.poll(timeout_ms))
        if not ready and timeout_ms == IDLE_MS and not self._checked:
            self._engine.check_integrity()
            self._checked = True
        if self._wake_out.fileno() in ready:
            self._wake_out.recv(64)
        if self._monitor in ready:
            parse_monitor_message(self._monitor.recv_multipart())
            self._stats_due = 0.0
            self._probe_until = time.monotonic() + PROBE_SECONDS
        if self._socket not in ready:
            return
        for _ in range(MESSAGES_PER_STEP):
            try:
                frames = self._socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return
            server, *payload = frames
            try:
                message: ToEngine = TO_ENGINE.decode(b"".join(payload))
            except msgspec.DecodeError as error:
                logger.warning("dropped a message of %d frames from %s: %s", len(payload), server.hex(), error)
                continue
            self._handle(server, message)

    def _handle(self, server: bytes, message: ToEngine) -> None:
        self._servers.add(server)
        match message:
            case Submit(requests):
                refused = self._refuse(requests) if self._draining else self._engine.add(server, requests)
                if refused:
                    self._send(server, Outputs(refused))
            case Abort(request_ids):
                aborted = self._engine.abort(server, request_ids)
                if aborted:
                    self._send(server, Outputs(aborted))
            case Hello():
                self._engine.abort_owner(server)
                self._send(server, self._changes.ready)
                self._send(server, self._engine.stats())
            case Drain():
                self._draining = True
            case ResetPrefixCache():
                self._engine.reset_prefix_cache()
            case Reconfigure() | LoadAdapter() | UnloadAdapter():
                answer = self._changes.take(server, message)
                self._announce()
                if answer is not None:
                    self._send(server, answer)

    def _announce(self) -> None:
        """Every server hears of a change before the one that asked for it gets its answer."""
        if self._announced != self._changes.ready:
            self._announced = self._changes.ready
            for server in list(self._servers):
                self._send(server, self._announced)

    def _refuse(self, requests: list[Request]) -> list[Update]:
        return [Update(request_id=request.request_id, finish_reason="error", error=DRAINING) for request in requests]

    def _report(self) -> None:
        """Statistics when they changed. Also how a server is found gone that waits for no token."""
        now = time.monotonic()
        if now < self._stats_due:
            return
        stats = self._engine.stats()
        if stats == self._stats and now >= self._probe_until:
            return
        self._stats = stats
        self._stats_due = now + STATS_SECONDS
        for server in list(self._servers):
            self._send(server, stats)

    def _send(self, server: bytes, message: FromEngine) -> None:
        try:
            self._socket.send_multipart([server, ENCODER.encode(message)], zmq.NOBLOCK)
        except zmq.ZMQError as error:
            if error.errno != zmq.EHOSTUNREACH:
                raise
            self._servers.discard(server)
            ended = self._engine.abort_owner(server)
            # servers come and go with every edit; only one that leaves work behind is worth a line
            logger.log(logging.INFO if ended else logging.DEBUG, "a server has left, and %d requests with it", ended)
