"""The table of routes: one endpoint is one module here with `handle`, and one line below.

    async def handle(context: Context, request: Request, body: dict[str, Any]) -> Response
    async def probe(context: Context) -> None      # optional: a real request; raises ApiError with the reason
    def start(context: Context) -> None            # optional: once, before the server accepts

`body` is the decoded JSON object where `json` is set, else empty. Where `generates` is set the caller has checked that
the engine is up, and cancels `handle` when the client leaves.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal, Protocol, cast

from starlette.requests import Request
from starlette.responses import Response

from appliance.server.config import ServerConfig
from appliance.server.context import Context


class Handle(Protocol):
    def __call__(self, context: Context, request: Request, body: dict[str, Any]) -> Awaitable[Response]: ...


class Probe(Protocol):
    def __call__(self, context: Context) -> Awaitable[None]: ...


@dataclass(frozen=True)
class Endpoint:
    methods: tuple[str, ...]
    path: str
    module: str
    auth: Literal["key", "open", "metrics"] = "key"
    """metrics = open where the profile says so."""
    switch: str | None = None
    """The profile's `endpoints.<switch>`; None = always there."""
    json: bool = False
    """Takes a JSON object, within the limits on bytes and nesting."""
    generates: bool = False
    """Needs the engine: 503 while it is down or the server drains; counts against the queue limits."""

    def offered(self, config: ServerConfig) -> bool:
        return self.switch is None or config.endpoints.get(self.switch, "on") != "off"

    def required(self, config: ServerConfig) -> bool:
        return self.switch is not None and config.endpoints.get(self.switch) == "required"

    def open(self, config: ServerConfig) -> bool:
        return self.auth == "open" or (self.auth == "metrics" and config.metrics_open)

    def handle(self) -> Handle:
        return cast(Handle, import_module(f"{__name__}.{self.module}").handle)

    def start(self) -> Callable[[Context], None] | None:
        return getattr(import_module(f"{__name__}.{self.module}"), "start", None)

    def probe(self) -> Probe | None:
        return getattr(import_module(f"{__name__}.{self.module}"), "probe", None)


ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(("GET", "HEAD"), "/health", "health", auth="open"),
    Endpoint(("GET", "HEAD"), "/ready", "ready", auth="open"),
    Endpoint(("GET",), "/metrics", "metrics", auth="metrics", switch="metrics"),
    Endpoint(("GET",), "/version", "version"),
    Endpoint(("GET",), "/v1/models", "models"),
    Endpoint(("GET",), "/v1/models/{model:path}", "model"),
    Endpoint(("POST",), "/v1/chat/completions", "chat", switch="chat", json=True, generates=True),
    Endpoint(("POST",), "/v1/completions", "completions", switch="completions", json=True, generates=True),
    Endpoint(("POST",), "/v1/systemone", "systemone", switch="systemone", json=True, generates=True),
    Endpoint(("POST",), "/tokenize", "tokenize", json=True),
    Endpoint(("POST",), "/detokenize", "detokenize", json=True),
)
