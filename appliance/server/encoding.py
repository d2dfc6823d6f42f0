"""Request bodies that arrive compressed: `Content-Encoding: gzip` or `zstd`, decoded within the limit on bodies."""

import sys
import zlib
from collections.abc import Callable, Iterable
from typing import Protocol

from appliance.server.errors import ApiError, bad_request

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

WINDOW_LOG = 23
"""8 MiB, the most that RFC 9659 lets a sender of zstd ask of a receiver."""
MOST_FRAMES = 64
"""Both formats may be strung together; a body of a million empty pieces is an attack."""


class Decoder(Protocol):
    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int) -> bytes: ...


def _gzip() -> Decoder:
    return zlib.decompressobj(wbits=31)


def _zstd() -> Decoder:
    return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: WINDOW_LOG})


DECODERS: dict[str, Callable[[], Decoder]] = {"gzip": _gzip, "x-gzip": _gzip, "zstd": _zstd}


def coding_of(headers: Iterable[str]) -> str | None:
    """The coding that the values of Content-Encoding name, None for plain bytes; raises ApiError 415."""
    named = [name.strip().lower() for value in headers for name in value.split(",")]
    codings = [name for name in named if name not in ("", "identity")]
    if not codings:
        return None
    if len(codings) > 1 or codings[0] not in DECODERS:
        got = ", ".join(codings)[:80]
        message = f'content-encoding must be gzip, zstd or absent, got "{got}"'
        raise ApiError(415, message, headers={"Accept-Encoding": "gzip, zstd"})
    return codings[0]


def too_large(limit: int) -> ApiError:
    return ApiError(413, f"the body is over the limit of {limit} bytes")


def decode(raw: bytes, coding: str, limit: int) -> bytes:
    """The plain bytes; never makes more than `limit` of them. Raises ApiError 400 or 413."""
    pieces: list[bytes] = []
    size = 0
    while raw:
        decoder = DECODERS[coding]()
        try:
            pieces.append(decoder.decompress(raw, limit - size + 1))
        except (zlib.error, zstd.ZstdError) as error:
            raise bad_request(f"the body is not valid {coding}: {error}") from None
        size += len(pieces[-1])
        if size > limit:
            raise too_large(limit)
        if not decoder.eof:
            raise bad_request(f"the body is not valid {coding}: it ends too early")
        raw = decoder.unused_data
        if raw and len(pieces) == MOST_FRAMES:
            raise bad_request(f"the body is not valid {coding}: it has more than {MOST_FRAMES} parts")
    return b"".join(pieces)
