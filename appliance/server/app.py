"""Builds the ASGI application from the endpoint table: routes, and CORS, keys, counting and access log around them."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from tenacity import AsyncRetrying, RetryCallState, wait_exponential

from appliance import __version__
from appliance.server import errors
from appliance.server.auth import KeyGuard
from appliance.server.body import read_json
from appliance.server.context import Context
from appliance.server.endpoints import ENDPOINTS, Endpoint
from appliance.server.errors import ApiError, unexpected
from appliance.server.traffic import Traffic

logger = logging.getLogger("appliance.server")

CLIENT_LEFT = 499


def build_app(context: Context, digests: tuple[bytes, ...]) -> FastAPI:
    """`digests` are the SHA-256 of the API keys; none = no key is asked for."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(context.engine)
            watchers = [
                asyncio.create_task(_keep(context.pulse.watch)),
                asyncio.create_task(_keep(partial(context.readiness.watch, context))),
            ]
            yield
            for watcher in watchers:
                watcher.cancel()
            await asyncio.gather(*watchers, return_exceptions=True)

    config = context.config
    offered = [endpoint for endpoint in ENDPOINTS if endpoint.offered(config)]
    app = FastAPI(
        title="appliance",
        version=__version__,
        lifespan=lifespan,
        openapi_url=None,
        redirect_slashes=False,
    )
    for endpoint in offered:
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
    open_paths = frozenset(endpoint.path for endpoint in offered if endpoint.open(config))
    # the last one added is the outermost
    app.add_middleware(KeyGuard, digests=digests, open_paths=open_paths)
    app.add_middleware(
        CORSMiddleware,
        allow_origins=list(config.cors_origins),
        allow_credentials=config.cors_credentials,
        allow_methods=["GET", "POST"],
        allow_headers=["*"],
        expose_headers=["X-Request-Id", "Retry-After"],
    )
    app.add_middleware(Traffic, context=context, open_paths=open_paths)
    return app


async def _keep(watch: Callable[[], Awaitable[None]]) -> None:
    """Starts a watch anew that failed: nobody awaits it, so its end would show nowhere."""

    def tell(state: RetryCallState) -> None:
        assert state.outcome is not None
        logger.error("a watch failed and is started again", exc_info=state.outcome.exception())

    await AsyncRetrying(wait=wait_exponential(max=30), before_sleep=tell)(watch)


def _route(context: Context, endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
    handle = endpoint.handle()

    async def answer(request: Request) -> Response:
        if endpoint.generates:
            context.check_serving()
        body = await read_json(request, context.config) if endpoint.json else {}
        work = handle(context, request, body)
        return await (_while_connected(request, work) if endpoint.generates else work)

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


async def _while_connected(request: Request, work: Awaitable[Response]) -> Response:
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
