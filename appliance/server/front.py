"""The outermost layer: counts what is being answered, turns newcomers away in a drain, writes the access log."""

import logging
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from appliance.server.context import Context
from appliance.server.errors import unavailable

LINE = "%(client)s %(method)s %(path)s %(status)s %(ms)s ms"

access = logging.getLogger("appliance.access")


class Traffic:
    """ASGI middleware. Requests to `open_paths` are answered during a drain too, and hold nothing up."""

    def __init__(self, app: ASGIApp, context: Context, open_paths: frozenset[str]) -> None:
        self.app = app
        self.context = context
        self.open_paths = open_paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        counted = scope["path"] not in self.open_paths
        started = time.monotonic()
        status = 0

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        self.context.active += counted
        try:
            if counted and self.context.draining:
                refusal = unavailable("the server is shutting down", retry_after=5)
                refusal.headers["Connection"] = "close"
                await refusal.response()(scope, receive, noting)
            else:
                await self.app(scope, receive, noting)
        finally:
            self.context.active -= counted
            if self.context.config.access_log:
                fields = {
                    "client": scope["client"][0] if scope.get("client") else "",
                    "method": scope["method"],
                    "path": scope["path"],
                    "status": status,
                    "ms": round((time.monotonic() - started) * 1000, 1),
                }
                # probes and scrapes come every second and say nothing new
                level = logging.INFO if counted else logging.DEBUG
                access.log(level, LINE, fields, extra={"fields": fields})
