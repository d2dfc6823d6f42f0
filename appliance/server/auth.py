"""API keys: read once from environment or file, kept only as SHA-256, compared in constant time.

Every path needs a key but the open ones, also paths that lead nowhere: 401 comes before 404.
"""

import hashlib
import hmac
import os
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from appliance.api_key import UnusableKeyError, from_file, from_variable
from appliance.server.errors import ApiError

INSIDE: Final = "appliance.inside"
"""Scope key of our own requests, which need no API key. No client can write the scope."""


class KeyMissingError(Exception):
    """A configured key has no value: serving without it would leave the door open."""


def read_keys(references: tuple[dict[str, str], ...]) -> tuple[bytes, ...]:
    """SHA-256 digest per key of `{"env": NAME}` or `{"file": PATH}`; raises KeyMissingError."""
    return tuple(hashlib.sha256(_read(reference).encode()).digest() for reference in references)


def _read(reference: dict[str, str]) -> str:
    try:
        if "env" in reference:
            return from_variable(reference["env"], os.environ.get(reference["env"]))
        return from_file(reference["file"])
    except UnusableKeyError as error:
        raise KeyMissingError(f"security.api_keys: {error}") from None


class KeyGuard:
    """ASGI middleware. `open_paths` are exact paths that need no key."""

    app: ASGIApp

    def __init__(self, digests: tuple[bytes, ...], open_paths: frozenset[str]) -> None:
        self.digests = digests
        self.open_paths = open_paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.admits(scope):
            await self.app(scope, receive, send)
            return
        refusal = ApiError(401, "a valid API key is needed: Authorization: Bearer KEY")
        refusal.headers["WWW-Authenticate"] = "Bearer"
        await refusal.response()(scope, receive, send)

    def admits(self, scope: Scope) -> bool:
        """Whether the request may come in: nothing guards the path, it comes from inside, or it shows a key."""
        if scope["type"] == "lifespan" or scope.get("path") in self.open_paths or not self.digests or INSIDE in scope:
            return True
        for name, value in scope["headers"]:
            scheme, _, key = value.partition(b" ")
            if name == b"authorization" and scheme.lower() == b"bearer":
                given = hashlib.sha256(key.strip()).digest()
                # every key is compared, so that time tells nothing about which one matched
                return sum(hmac.compare_digest(given, digest) for digest in self.digests) > 0
        return False
