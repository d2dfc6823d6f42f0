"""Reading a request's JSON within the limits: bytes while they arrive, compression, encoding, syntax, nesting."""

import asyncio
import json
from typing import Any

import msgspec
from starlette.requests import Request

from appliance.server.config import ServerConfig
from appliance.server.encoding import coding_of, decode, too_large
from appliance.server.errors import ApiError, bad_request, shown

LONG_BODY = 64 * 1024
"""Bytes from which on decoding moves to a thread."""
BODY_SECONDS = 30.0
BODY_BYTES_PER_SECOND = 4096
"""A body has BODY_SECONDS, and time for what has arrived of it at this rate on top."""
ENVELOPE_DEPTH = 16
"""Levels a body may nest above the schema it carries."""


async def read_bytes(request: Request, limit: int) -> bytes:
    """The body; raises ApiError 413 as soon as it passes `limit` bytes, whatever Content-Length said.

    408 where it stops arriving, or trickles.
    """
    refusal = too_large(limit)
    refusal.headers["Connection"] = "close"
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > limit:
        raise refusal
    chunks: list[bytes] = []
    size = 0
    begun = asyncio.get_running_loop().time()
    try:
        async with asyncio.timeout(BODY_SECONDS) as left:
            async for chunk in request.stream():
                size += len(chunk)
                if size > limit:
                    raise refusal
                chunks.append(chunk)
                left.reschedule(begun + BODY_SECONDS + size / BODY_BYTES_PER_SECOND)
    except TimeoutError:
        message = f"the body stopped arriving: {size} bytes in {asyncio.get_running_loop().time() - begun:.0f} s"
        raise ApiError(408, message, headers={"Connection": "close"}) from None
    return b"".join(chunks)


async def read_json(request: Request, config: ServerConfig) -> dict[str, Any]:
    """The body as a JSON object; raises ApiError 400, 413 or 415."""
    media_type = request.headers.get("content-type", "application/json").split(";")[0].strip().lower()
    if media_type != "application/json" and not media_type.endswith("+json"):
        raise ApiError(415, f'content-type must be application/json, got "{media_type[:80]}"')
    coding = coding_of(request.headers.getlist("content-encoding"))
    raw = await read_bytes(request, config.body_bytes)
    depth = config.schema_depth + ENVELOPE_DEPTH
    if coding is not None:
        return await asyncio.to_thread(lambda: _decode(decode(raw, coding, config.body_bytes), depth))
    return await asyncio.to_thread(_decode, raw, depth) if len(raw) > LONG_BODY else _decode(raw, depth)


def _decode(raw: bytes, depth: int) -> dict[str, Any]:
    try:
        text = raw.decode()
        value = msgspec.json.decode(raw)
    except UnicodeDecodeError as error:
        raise bad_request(f"the body is not UTF-8: byte {error.start} is 0x{raw[error.start]:02x}") from None
    except RecursionError:
        raise bad_request("the body is nested too deeply") from None
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise bad_request(f"the body is not valid JSON: {error}") from None
    if not isinstance(value, dict):
        raise bad_request("the body must be a JSON object")
    check_depth(value, depth, None)
    # where no object lies below the first and no string has a colon, equal counts prove that no name is repeated
    if raw.count(b":") > len(value):
        json.loads(text, object_pairs_hook=_check_names, strict=False)
    return value


def _check_names(pairs: list[tuple[str, Any]]) -> None:
    """A second value of a name would replace the first unseen: msgspec keeps the last of a question's two options.

    Measured on bodies of 1 MB: 2 ms for long texts, 25 ms for 70,000 names, nothing for lists of token ids.
    """
    if len({name for name, _ in pairs}) < len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise bad_request(f"the body has {shown(name)} twice in one object", name)
            seen.add(name)


def check_depth(value: Any, limit: int, param: str | None) -> None:
    """Raises ApiError 400 when objects and lists nest more than `limit` levels."""
    level = [value] if isinstance(value, dict | list) else []
    depth = 0
    while level:
        depth += 1
        if depth > limit:
            raise bad_request(f"{param or 'the body'} nests deeper than {limit} levels", param)
        level = [
            child
            for node in level
            for child in (node.values() if isinstance(node, dict) else node)
            if isinstance(child, dict | list)
        ]
