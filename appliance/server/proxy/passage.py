"""One request on its way through: to the least loaded vLLM, to another one when that fails first, and back."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Mapping
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Literal, TypeVar

import httpx

from appliance.server.errors import ApiError, unavailable, unexpected
from appliance.server.proxy.adapters import renamed
from appliance.server.proxy.bodies import Body
from appliance.server.proxy.routes import Route
from appliance.server.proxy.upstream import Upstream, failure

if TYPE_CHECKING:
    from appliance.server.proxy.state import ProxyState

T = TypeVar("T")

MOST_TRIES = 3
SCALING = 503
UPSTREAM_GONE = (httpx.ConnectError, httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError)
DIED = "the engine stopped while it answered"
NOT_PASSED_ON = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "content-length",
        "date",
        "server",
        "vary",
        "x-request-id",
    }
)
"""Headers of an answer that belong to one hop, or that our own server writes."""
PASSED_ON = ("accept", "accept-language", "traceparent", "tracestate", "content-type")


class Moved(Exception):  # noqa: N818 - an order, not a failure
    """Carried: the request starts again where the current state's engines serve."""


class Passage:
    """`open`, then `body` or `events`; `close` in any case."""

    def __init__(self, state: "ProxyState", route: Route, body: Body, headers: Mapping[str, str]) -> None:
        self.state = state
        self.route = route
        self.upstream: Upstream | None = None
        self.answered = False
        """The head of the answer is there: it cannot start again elsewhere."""
        self._body = body
        self._adapter: tuple[bytes, bytes] | None = None
        """What vLLM calls the one that is asked, and its client."""
        self._headers = {name: headers[name] for name in PASSED_ON if name in headers}
        self._headers |= {"x-request-id": headers["x-request-id"], "accept-encoding": "identity"}
        self._order: asyncio.Future[Literal["carry"] | str] = asyncio.get_running_loop().create_future()
        self._held = AsyncExitStack()
        self.response: httpx.Response

    async def open(self) -> None:
        """Until the head of an answer is there, and its whole body if it is no stream. Raises ApiError 503."""
        tried: set[Upstream] = set()
        for _ in range(MOST_TRIES):
            upstream = self.state.upstreams.choose(tried)
            try:
                while await self._interruptible(self._send(upstream)):
                    await self._leave()
                    await self._interruptible(upstream.settled.wait())
                self.answered = True
                return
            except Moved:
                await self._leave()
                await self.state.shared.gate.opened()
                self.state, tried = self.state.newest, set()
                self.state.joined(self)
            except UPSTREAM_GONE as error:
                await self._leave()
                tried.add(upstream)
                if isinstance(error, httpx.ConnectError):
                    upstream.lost(failure(error))
                else:
                    await upstream.look()
        raise unavailable("the engine stopped before it answered", retry_after=2)

    async def _send(self, upstream: Upstream) -> bool:
        """True where it has to be sent again: vLLM changed its number of engines and refused everything meanwhile."""
        unsettled = not upstream.settled.is_set()
        self.upstream = upstream
        upstream.running.add(self)
        content, name = self._body.content(self.state.adapters)
        own = self.state.adapters.of(name)
        self._adapter = (own.encode(), name.encode()) if name is not None and own is not None else None
        request = upstream.client.build_request("POST", self.route.path, content=content, headers=self._headers)
        self.response = await upstream.client.send(request, stream=True)
        self._held.push_async_callback(self.response.aclose)
        if not self.streams:
            await self.response.aread()
        return unsettled and self.response.status_code == SCALING

    @property
    def streams(self) -> bool:
        return str(self.response.headers.get("content-type", "")).startswith("text/event-stream")

    @property
    def headers(self) -> dict[str, str]:
        return {name: value for name, value in self.response.headers.items() if name not in NOT_PASSED_ON}

    @property
    def content(self) -> bytes:
        """Of an answer that is no stream."""
        return self.response.content.replace(*self._adapter) if self._adapter else self.response.content

    def check_served(self) -> None:
        """ApiError 501 where vLLM lacks the route for this model: it then answers as a web framework does."""
        if self.response.status_code in (404, 405) and not self.streams and b'"error"' not in self.response.content:
            raise ApiError(501, f"this model cannot serve {self.route.path}")

    async def events(self) -> AsyncGenerator[bytes, None]:
        """The stream as it comes. One that breaks ends with an event that says so."""
        chunks = self.response.aiter_raw()
        if self._adapter:
            chunks = renamed(chunks, *self._adapter)
        try:
            while (chunk := await self._interruptible(anext(chunks, b""))) != b"":
                yield chunk
        except UPSTREAM_GONE:
            for piece in self.route.failure(unavailable(DIED, retry_after=2)):
                yield piece
        except ApiError as error:
            for piece in self.route.failure(error):
                yield piece
        except Exception as error:
            for piece in self.route.failure(unexpected(error, "a streamed answer")):
                yield piece

    async def close(self) -> None:
        """Whatever still runs upstream is aborted."""
        await self._leave()
        self.state.left(self)

    async def _leave(self) -> None:
        if self.upstream is not None:
            self.upstream.running.discard(self)
        await self._held.aclose()

    def carry(self) -> bool:
        """True when it starts again elsewhere: nothing of its answer has gone out yet."""
        if self.answered or self._order.done():
            return False
        self._order.set_result("carry")
        return True

    def cut(self, why: str) -> bool:
        """True unless it is on its way elsewhere."""
        if self._order.done():
            return False
        self._order.set_result(why)
        return True

    async def _interruptible(self, work: Awaitable[T]) -> T:
        task = asyncio.ensure_future(work)
        try:
            await asyncio.wait((task, self._order), return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
            order = self._order.result()
            self._order = asyncio.get_running_loop().create_future()
            if order == "carry":
                raise Moved
            raise unavailable(order, retry_after=2)
        finally:
            # cancelled once only: a second one would interrupt httpx while it hangs up
            task.cancel()
            task.add_done_callback(_retrieved)
            await asyncio.wait((task,))


def _retrieved(task: "asyncio.Future[T]") -> None:
    """Nobody may be left to ask how it ended."""
    if not task.cancelled():
        task.exception()
