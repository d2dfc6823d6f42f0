"""The supervisor's end of the admin channel: a unix socket in the state folder that only its owner may open."""

import asyncio
import contextlib
import pwd
import socket
import struct
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Protocol, Self

import msgspec

from appliance.diagnostics import ApplianceError, Diagnostic, Position, Severity
from appliance.supervise import admin_protocol as protocol
from appliance.supervise.admin_answers import listed, named_text, rollback_target, shown
from appliance.supervise.admin_protocol import ENCODER, LINE_BYTES, REQUESTS, Answer, Failure, Planned, Request
from appliance.supervise.admin_socket import address
from appliance.supervise.history import History
from appliance.supervise.history_records import Phase, Revision
from appliance.supervise.proposal import Outcome
from appliance.supervise.status import ApplianceStatus

Told = Callable[[Phase | str], None]


class Handler(Protocol):
    """The supervisor. ApplianceErrors travel to whoever asked."""

    @property
    def history(self) -> History: ...

    @property
    def running(self) -> Revision | None:
        """What runs; None until something does."""
        ...

    async def status(self) -> ApplianceStatus: ...

    async def reload(self, actor: str, note: str, told: Told) -> Outcome:
        """`told` gets each phase as it ends, and in words what lasts. Goes on when whoever asked has left."""
        ...

    async def rollback(self, to: Revision, actor: str, note: str, told: Told) -> Outcome:
        """As reload, with the text of `to`; the text that is left is not tried again by itself."""
        ...

    async def wanted(self) -> protocol.Text:
        """The text that the operator keeps, in a file or in git. ApplianceError when it cannot be read."""
        ...

    async def plan_against(self, text: str, file: str) -> Planned:
        """What a reload with `text` would do. ApplianceError also while nothing runs yet."""
        ...


class AdminServer:
    """`async with AdminServer(handler, folder, report):` serves from inside to the end."""

    def __init__(self, handler: Handler, folder: Path, on_defect: Callable[[Exception], None]) -> None:
        """on_defect: hears of exceptions that are no known failures; the channel goes on."""
        self._handler, self._folder, self._on_defect = handler, folder, on_defect
        self._calls: set[asyncio.Task[None]] = set()
        self._background: set[asyncio.Task[Outcome]] = set()

    async def __aenter__(self) -> Self:
        """OSError when the socket cannot be made."""
        with address(self._folder) as path, contextlib.ExitStack() as undo:
            listener = undo.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            with contextlib.suppress(FileNotFoundError):
                Path(path).unlink()
            listener.bind(path)
            Path(path).chmod(0o600)
            self._server = await asyncio.start_unix_server(self._connected, sock=listener, limit=LINE_BYTES)
            undo.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        with contextlib.suppress(OSError), address(self._folder) as path:
            Path(path).unlink()
        for task in self._calls:
            task.cancel()
        await asyncio.gather(*self._calls, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._calls.add(task)
        try:
            actor = _user(writer.get_extra_info("socket"))
            with contextlib.suppress(ConnectionError, ValueError, asyncio.CancelledError):
                while line := await reader.readline():
                    _send(writer, await self._answer(line, actor, lambda phase: _tell(writer, phase)))
                    await writer.drain()
        finally:
            self._calls.discard(task)
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    async def _answer(self, line: bytes, actor: str, told: Told) -> Answer:
        try:
            return await self._carry_out(REQUESTS.decode(line), actor, told)
        except msgspec.MsgspecError as error:
            return _failure("AP0905", f"this appliance does not know the request: {error}", "use its own version")
        except ApplianceError as error:
            return Failure(diagnostics=tuple(error.diagnostics), exit_code=error.exit_code, notes=tuple(error.notes))
        except Exception as error:
            self._on_defect(error)
            return _failure("AP0905", f"the appliance has a defect: {type(error).__name__}", "its log has more")

    async def _carry_out(self, request: Request, actor: str, told: Told) -> Answer:
        handler = self._handler
        match request:
            case protocol.Status():
                return protocol.StatusAnswer(status=await handler.status())
            case protocol.Reload(wait=False, note=note):
                self._keep(handler.reload(actor, note, lambda phase: None))
                return protocol.Queued()
            case protocol.Reload(note=note):
                return protocol.Tried(outcome=await self._keep(handler.reload(actor, note, told)))
            case protocol.Rollback(revision=number, note=note):
                target = rollback_target(handler.history, handler.running, number)
                return protocol.Tried(outcome=await self._keep(handler.rollback(target, actor, note, told)))
            case protocol.History(limit=limit):
                return listed(handler.history, handler.running, limit)
            case protocol.Show(revision=number):
                return shown(handler.history, number)
            case protocol.Diff(a=a, b=b):
                return protocol.Texts(a=await self._text(a), b=await self._text(b))
            case protocol.PlanAgainst(text=text, file=file):
                return await handler.plan_against(text, file)

    async def _text(self, name: str) -> protocol.Text:
        if name == "file":
            return await self._handler.wanted()
        return named_text(self._handler.history, self._handler.running, name)

    def _keep(self, work: Awaitable[Outcome]) -> "asyncio.Future[Outcome]":
        """Of its own: it ends with its outcome even when whoever asked has left."""

        async def run() -> Outcome:
            return await work

        task = asyncio.create_task(run())
        self._background.add(task)
        task.add_done_callback(self._ended)
        return asyncio.shield(task)

    def _ended(self, task: "asyncio.Task[Outcome]") -> None:
        self._background.discard(task)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, Exception) and not isinstance(error, ApplianceError):
            self._on_defect(error)


def _send(writer: asyncio.StreamWriter, answer: Answer) -> None:
    if not writer.is_closing():
        writer.write(ENCODER.encode(answer) + b"\n")


def _tell(writer: asyncio.StreamWriter, news: Phase | str) -> None:
    _send(writer, protocol.Doing(text=news) if isinstance(news, str) else protocol.Progress(phase=news))


def _failure(code: str, fact: str, fix: str) -> Failure:
    return Failure(diagnostics=(Diagnostic(code, Severity.ERROR, Position(protocol.SOCKET), "", fact, fix),))


def _user(connection: socket.socket) -> str:
    """Name of the user at the other end, from the kernel; empty where it does not tell."""
    if not hasattr(socket, "SO_PEERCRED"):
        return ""
    format = "3i"
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize(format))
    uid = struct.unpack(format, raw)[1]
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
