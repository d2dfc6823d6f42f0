"""The pipe to the supervisor: commands on standard input, answers on standard output, one JSON object per line."""

import asyncio
import contextlib
import logging
import os
import sys
from collections.abc import Callable

import msgspec

from appliance.server.control import (
    COMMANDS,
    ENCODER,
    Answer,
    Command,
    Discard,
    Hold,
    Leave,
    Prepare,
    Release,
    Retire,
    Standby,
    Switch,
    Tell,
)
from appliance.server.retiring import retire
from appliance.server.states import StateError
from appliance.server.succession import Succession

logger = logging.getLogger("appliance.server")

LINE_BYTES = 16 << 20
CHUNK = 1 << 16


def say(message: object) -> None:
    """One line at once: nothing else of this process writes there."""
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.write(ENCODER.encode(message).decode() + "\n")
        sys.stdout.flush()


def first_line(handle: int) -> tuple[bytes, bytes]:
    """The configuration, and what came behind it already."""
    got = b""
    while b"\n" not in got:
        chunk = os.read(handle, CHUNK)
        if not chunk:
            break
        got += chunk
    line, _, rest = got.partition(b"\n")
    return line, rest


async def lines(handle: int, rest: bytes, take: Callable[[bytes], None]) -> None:
    """Until the other end closes; that ends nothing else here."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LINE_BYTES)
    reader.feed_data(rest)
    pipe = os.fdopen(os.dup(handle), "rb", buffering=0)
    try:
        # from here on the transport closes it
        transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    except (ValueError, OSError) as error:
        pipe.close()
        logger.warning("no commands are taken: standard input is no pipe: %s", error)
        return
    try:
        while line := await reader.readline():
            take(line)
    finally:
        transport.close()


class Channel:
    """What takes long (Prepare, Retire) runs beside what comes next."""

    def __init__(self, succession: Succession, answer: Callable[[object], None] = say) -> None:
        self._succession = succession
        self._answer = answer
        self._running: set[asyncio.Task[None]] = set()

    def take(self, line: bytes) -> None:
        try:
            command = COMMANDS.decode(line)
        except msgspec.DecodeError as error:
            logger.error("a command that cannot be read: %s", error)
            return
        task = asyncio.create_task(self._run(command))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def close(self) -> None:
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    async def _run(self, command: Command) -> None:
        try:
            answer = await self._do(command)
        except StateError as error:
            answer = Answer(reference=command.reference, error=str(error))
        self._answer(answer)

    async def _do(self, command: Command) -> Answer:
        succession, reference = self._succession, command.reference
        match command:
            case Prepare():
                proof = await succession.prepare(command.config, command.seconds, command.probe)
                return Answer(reference=reference, proof=proof)
            case Retire():
                addresses = frozenset(command.addresses)
                ends = await retire(succession, addresses, command.seconds, command.carry)
                return Answer(reference=reference, finished=ends.finished, carried=ends.carried, cut=ends.cut)
            case Switch():
                succession.switch()
            case Discard():
                succession.discard()
            case Hold():
                succession.shared.gate.hold(command.requests, command.seconds)
            case Standby():
                succession.stand_by(command.requests, command.seconds, command.carry)
            case Release():
                succession.release()
            case Leave():
                succession.shared.leave(command.seconds)
            case Tell():
                succession.profile.facts = command.reload
        return Answer(reference=reference)
