"""What stands around the routes of every state: CORS, keys, refusals decided further out, the door for proofs.

Marks travel in the ASGI scope, which no client can write.
"""

from typing import Final

import httpx
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from appliance.server.auth import INSIDE, KeyGuard
from appliance.server.config import ServerConfig
from appliance.server.errors import ApiError

REFUSAL: Final = "appliance.refusal"
"""Scope key of an ApiError that is the answer, whatever the route: it still gets its CORS headers."""


class Refusals:
    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = scope.get(REFUSAL)
        if isinstance(refusal, ApiError):
            await refusal.response()(scope, receive, send)
        else:
            await self.app(scope, receive, send)


def guarded(app: ASGIApp, config: ServerConfig, keys: KeyGuard) -> ASGIApp:
    """`app` behind everything; `keys.app` is set here."""
    keys.app = Refusals(app)
    return CORSMiddleware(
        keys,
        allow_origins=list(config.cors_origins),
        allow_credentials=config.cors_credentials,
        allow_methods=["GET", "POST"],
        allow_headers=["*"],
        expose_headers=["X-Request-Id", "Retry-After"],
    )


def inside_client(app: ASGIApp, seconds: float) -> httpx.AsyncClient:
    """Calls `app` in this process, without a key."""

    async def entered(scope: Scope, receive: Receive, send: Send) -> None:
        await app({**scope, INSIDE: True}, receive, send)

    return httpx.AsyncClient(
        transport=httpx.ASGITransport(entered), base_url="http://inside", timeout=seconds, trust_env=False
    )
