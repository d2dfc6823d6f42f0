"""A request that another state may answer as well, as long as nothing of an answer has gone out."""

from collections.abc import Callable

from starlette.types import Message, Receive, Send

from appliance.server.gate import KEPT_BYTES, replayed

UNAVAILABLE = 503


class Attempt:
    """Stands between a request and its first answer; a 503 is `withheld` where `lost` says that it need not be."""

    def __init__(self, receive: Receive, send: Send, lost: Callable[[], bool]) -> None:
        self._receive, self._send, self._lost = receive, send, lost
        self._messages: list[Message] = []
        self._size = 0
        self.withheld = False

    async def receive(self) -> Message:
        message = await self._receive()
        self._size += len(message.get("body", b""))
        if self._size <= KEPT_BYTES:
            self._messages.append(message)
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] == UNAVAILABLE:
            self.withheld = self._size <= KEPT_BYTES and self._lost()
        if not self.withheld:
            await self._send(message)

    @property
    def again(self) -> Receive:
        """The request from its beginning."""
        return replayed(self._messages, self._receive)
