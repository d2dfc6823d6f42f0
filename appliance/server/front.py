"""The one ASGI application uvicorn calls: every request goes to the state that is current when it comes.

It counts what is being answered, refuses newcomers in a drain, lets work wait while it is held, writes the access log.
"""

import logging
import time
from functools import partial

from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope, Send

from appliance.server.attempt import Attempt
from appliance.server.errors import ApiError, unavailable
from appliance.server.guard import REFUSAL
from appliance.server.states import State
from appliance.server.succession import Succession

LINE = "%(client)s %(method)s %(path)s %(status)s %(ms)s ms"
CLIENT_LEFT = 499

access = logging.getLogger("appliance.access")


class Front:
    def __init__(self, succession: Succession) -> None:
        self._succession = succession
        self._shared = succession.shared

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["type"] == "http", scope["type"]
        started = time.monotonic()
        status = CLIENT_LEFT

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                if self._shared.leaving:
                    message = {**message, "headers": [*message["headers"], (b"connection", b"close")]}
            await send(message)

        state = self._succession.current
        counted = scope["path"] not in state.open_paths
        self._shared.active += counted
        try:
            if counted and self._shared.draining:
                refusal = unavailable("the server is shutting down", retry_after=5)
                refusal.headers["Connection"] = "close"
                await self._answer(state, {**scope, REFUSAL: refusal}, receive, noting)
            elif state.is_work(scope) and state.admits(scope):
                state = await self._work(scope, receive, noting)
            else:
                await self._answer(state, scope, receive, noting)
        finally:
            self._shared.active -= counted
            if state.config.access_log:
                _log(scope, status, started, counted)

    async def _work(self, scope: Scope, receive: Receive, send: Send) -> State:
        """Waits while work is held, and where the engines go before a byte of the answer went out. Who answered."""
        gate, again = self._shared.gate, False
        while True:
            if gate.closed:
                try:
                    receive = await gate.enter(receive)
                except ClientDisconnect:
                    return self._succession.current
                except ApiError as error:
                    again, scope = True, {**scope, REFUSAL: error}
            state = self._succession.current
            if again or not gate.watching:
                await self._answer(state, scope, receive, send)
                return state
            attempt = Attempt(receive, send, partial(self._lost, state))
            await self._answer(state, scope, attempt.receive, attempt.send)
            if not attempt.withheld:
                return state
            again, receive = True, attempt.again

    def _lost(self, state: State) -> bool:
        """Its engines are gone, or another state is there already: what failed on it may yet be answered."""
        return self._shared.gate.closed or state is not self._succession.current

    async def _answer(self, state: State, scope: Scope, receive: Receive, send: Send) -> None:
        with self._succession.keeping(state):
            await state.app(scope, receive, send)


def _log(scope: Scope, status: int, started: float, counted: bool) -> None:
    fields = {
        "client": scope["client"][0] if scope.get("client") else "",
        "method": scope["method"],
        "path": scope["path"],
        "status": status,
        "ms": round((time.monotonic() - started) * 1000, 1),
    }
    # probes and scrapes come every second and say nothing new
    access.log(logging.INFO if counted else logging.DEBUG, LINE, fields, extra={"fields": fields})
