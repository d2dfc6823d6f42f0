"""uvicorn's HTTP parser with a limit on what a client may send before its headers end."""

from asyncio import TimerHandle, Transport
from collections.abc import Callable

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEADER_BYTES = 64 * 1024
HEADER_COUNT = 256
HEADER_SECONDS = 30.0
"""From connecting, or from a request's first byte, to the end of its headers."""

_REFUSAL = (
    b'{"error":{"message":"the request line and headers are over the limit of %d bytes or %d headers",'
    b'"type":"RequestHeaderFieldsTooLargeError","param":null,"code":431}}' % (HEADER_BYTES, HEADER_COUNT)
)


class LimitedHttp(HttpToolsProtocol):
    """Answers 431 and hangs up once request line and headers pass the limits; hangs up on headers that do not end."""

    _header_bytes = 0
    """Bytes received since the current message began, while its headers are not complete."""
    _in_headers = True
    _refused = False
    _deadline: TimerHandle | None = None
    count: Callable[[int], None] = staticmethod(lambda change: None)
    """Told +1 and -1 as the connection begins and ends."""

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.count(1)
        self._wait_for_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        self._headers_are_there()
        super().connection_lost(exc)
        self.count(-1)

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        if self._in_headers:
            self._header_bytes += len(data)
        super().data_received(data)
        if self._in_headers and self._header_bytes > HEADER_BYTES:
            self._refuse()

    def on_message_begin(self) -> None:
        self._in_headers = True
        self._wait_for_headers()
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        super().on_header(name, value)
        if len(self.headers) > HEADER_COUNT:
            self._refuse()

    def on_headers_complete(self) -> None:
        self._in_headers = False
        self._header_bytes = 0
        self._headers_are_there()
        size = sum(len(name) + len(value) for name, value in self.headers)
        if size + len(self.url) > HEADER_BYTES:
            self._refuse()
        if not self._refused:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        if not self._refused:
            super().on_body(body)

    def on_message_complete(self) -> None:
        self._in_headers = True
        if not self._refused:
            super().on_message_complete()

    def _unsupported_upgrade_warning(self) -> None:
        """Quiet: the client is answered over HTTP, and uvicorn's advice to install a library is none here."""

    def _wait_for_headers(self) -> None:
        self._headers_are_there()
        self._deadline = self.loop.call_later(HEADER_SECONDS, self.transport.close)

    def _headers_are_there(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _refuse(self) -> None:
        if self._refused or self.transport is None or self.transport.is_closing():
            return
        self._refused = True
        head = (
            b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-type: application/json\r\nconnection: close\r\n"
        )
        self.transport.write(head + b"content-length: %d\r\n\r\n" % len(_REFUSAL) + _REFUSAL)
        self.transport.close()
