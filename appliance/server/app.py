"""The routes of one state, from the endpoint table."""

import asyncio
from collections.abc import Awaitable, Callable

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from appliance import __version__
from appliance.server import errors
from appliance.server.body import read_json
from appliance.server.config import ServerConfig
from appliance.server.context import Context
from appliance.server.endpoints import ENDPOINTS, Endpoint
from appliance.server.errors import ApiError, unexpected

CLIENT_LEFT = 499


def build_routes(context: Context) -> FastAPI:
    """What the configuration offers; nothing stands around it yet."""
    app = FastAPI(title="appliance", version=__version__, openapi_url=None, redirect_slashes=False)
    for endpoint in offered(context.config):
        if start := endpoint.start():
            start(context)
        app.add_api_route(
            endpoint.path,
            _route(context, endpoint),
            methods=list(endpoint.methods),
            name=endpoint.module,
            response_model=None,
        )
    errors.install(app)
    return app


def offered(config: ServerConfig) -> list[Endpoint]:
    return [endpoint for endpoint in ENDPOINTS if endpoint.offered(config)]


def _route(context: Context, endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
    handle = endpoint.handle()

    async def answer(request: Request) -> Response:
        if not endpoint.generates:
            body = await read_json(request, context.config) if endpoint.json else {}
            return await handle(context, request, body)
        context.check_serving()
        context.arriving += 1
        try:
            body = await read_json(request, context.config)
            return await while_connected(request, handle(context, request, body))
        finally:
            context.arriving -= 1

    async def guarded(request: Request) -> Response:
        try:
            return await answer(request)
        except ClientDisconnect:
            return Response(status_code=CLIENT_LEFT)
        except (ApiError, HTTPException):
            raise
        except Exception as error:
            raise unexpected(error, f"{request.method} {endpoint.path}") from None

    return guarded


async def while_connected(request: Request, work: Awaitable[Response]) -> Response:
    """Cancels `work` when the client leaves. A streamed response watches for that itself once it begins."""
    task = asyncio.ensure_future(work)
    watch = asyncio.ensure_future(_left(request))
    try:
        await asyncio.wait((task, watch), return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        return Response(status_code=CLIENT_LEFT)
    finally:
        task.cancel()
        watch.cancel()
        await asyncio.gather(task, watch, return_exceptions=True)


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
