"""The routes of a proxying state: what goes through to vLLM, and what this server answers itself."""

import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from appliance import __version__
from appliance.server import errors
from appliance.server.app import CLIENT_LEFT, while_connected
from appliance.server.body import read_bytes, read_json
from appliance.server.config import ServerConfig
from appliance.server.endpoints import ENDPOINTS
from appliance.server.errors import ApiError, unexpected
from appliance.server.proxy import pages
from appliance.server.proxy.bodies import Body, FormBody, JsonBody
from appliance.server.proxy.checks import check_request, with_default_output
from appliance.server.proxy.counting import check_room, prompt_tokens
from appliance.server.proxy.passage import Passage
from appliance.server.proxy.routes import ROUTES, Route
from appliance.server.proxy.upstream import PINNED

if TYPE_CHECKING:
    from appliance.server.proxy.state import ProxyState

Handle = Callable[[Request], Awaitable[Response]]
OWN_PAGES = ("health", "ready", "metrics", "version", "models", "model")


def open_paths(config: ServerConfig) -> frozenset[str]:
    return frozenset(page.path for page in ENDPOINTS if page.module in OWN_PAGES and page.open(config))


def build_app(state: "ProxyState") -> FastAPI:
    app = FastAPI(title="appliance", version=__version__, openapi_url=None, redirect_slashes=False)
    for page in ENDPOINTS:
        if page.module in OWN_PAGES and page.offered(state.config):
            app.add_api_route(
                page.path,
                _guarded(_page(state, page.module), page.path),
                methods=list(page.methods),
                name=page.module,
                response_model=None,
            )
    for route in ROUTES:
        if route.offered(state.config):
            app.add_api_route(
                route.path,
                _guarded(_through(state, route), route.path),
                methods=["POST"],
                name=route.path,
                response_model=None,
            )
    errors.install(app)
    return app


def _page(state: "ProxyState", name: str) -> Handle:
    page = pages.PAGES[name]

    async def answer(request: Request) -> Response:
        return await page(state, request)

    return answer


def _through(state: "ProxyState", route: Route) -> Handle:
    async def answer(request: Request) -> Response:
        state.shared.check_serving()
        state.arriving += route.work
        try:
            body: dict[str, Any] = {}
            if route.body == "json":
                body = await read_json(request, state.config)
                check_request(route, body, state.config)
                sent: Body = JsonBody(with_default_output(route, body, state.config))
            else:
                sent = FormBody(await read_bytes(request, state.config.body_bytes))
            return await while_connected(request, _pass(state, route, request, body, sent))
        finally:
            state.arriving -= route.work

    return answer


async def _pass(state: "ProxyState", route: Route, request: Request, body: dict[str, Any], sent: Body) -> Response:
    identity = request.headers.get("x-request-id") or uuid.uuid4().hex
    headers = {**request.headers, "x-request-id": identity}
    async with AsyncExitStack() as stack:
        tokens = await prompt_tokens(state, route, body)
        await check_room(state, route, body, tokens)
        ticket = None
        if route.work:
            admission = state.shared.admission if PINNED.get() is None else state.proofs
            ticket = stack.enter_context(admission.enter(route.sequences(body), sum(tokens)))
        passage = Passage(state, route, sent, headers)
        state.joined(passage)
        stack.push_async_callback(passage.close)
        await passage.open()
        if ticket is not None:
            ticket.prefilled(sum(tokens))
        passage.check_served()
        own = {"X-Request-Id": identity}
        if passage.streams:
            return Relayed(passage.events(), passage.response.status_code, {**passage.headers, **own}, stack.pop_all())
        return Response(passage.content, passage.response.status_code, {**passage.headers, **own})
    raise AssertionError("unreachable")


class Relayed(StreamingResponse):
    """A stream on its way; `held` is released however it ends."""

    def __init__(
        self, events: AsyncGenerator[bytes, None], status: int, headers: dict[str, str], held: AsyncExitStack
    ) -> None:
        super().__init__(events, status, headers)
        self._events = events
        self._held = held

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._events.aclose()
            await self._held.aclose()


def _guarded(handle: Handle, path: str) -> Handle:
    async def guarded(request: Request) -> Response:
        try:
            return await handle(request)
        except ClientDisconnect:
            return Response(status_code=CLIENT_LEFT)
        except (ApiError, HTTPException):
            raise
        except Exception as error:
            raise unexpected(error, f"{request.method} {path}") from None

    return guarded
