"""Compressed request bodies: what official clients send is read, bombs and broken ones are refused."""

import gzip
import json
import sys
import zlib
from collections.abc import Iterator
from typing import Any

import pytest

from appliance.server.encoding import WINDOW_LOG

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

URL = "/v1/completions"
LIMIT = 100_000
BODY = json.dumps({"prompt": "ab", "max_tokens": 2, "user": "x" * 2000}).encode()
PACK = {"gzip": gzip.compress, "zstd": zstd.compress}


@pytest.fixture(scope="module")
def small(model: Any, launcher: Any) -> Iterator[Any]:
    with launcher(model, body_bytes=LIMIT) as server:
        yield server


def post(server: Any, content: Any, coding: str) -> Any:
    return server.http.post(
        URL, content=content, headers={"Content-Type": "application/json", "Content-Encoding": coding}
    )


def refusal(answer: Any, status: int) -> str:
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (status, status)
    return error["message"]


@pytest.mark.parametrize("coding", ["gzip", "GZIP", "x-gzip", "zstd", "identity, zstd"])
def test_a_compressed_body_is_read(small: Any, coding: str) -> None:
    packed = PACK["zstd" if "zstd" in coding else "gzip"](BODY)
    assert len(packed) < len(BODY) / 10
    assert post(small, packed, coding).json()["choices"][0]["text"] == "ab"
    assert post(small, iter([packed[:20], packed[20:]]), coding).status_code == 200


@pytest.mark.parametrize("coding", PACK)
def test_several_parts_are_one_body(small: Any, coding: str) -> None:
    pack = PACK[coding]
    assert post(small, pack(BODY[:100]) + pack(b"") + pack(BODY[100:]), coding).status_code == 200
    assert "more than 64 parts" in refusal(post(small, pack(b"") * 65 + pack(BODY), coding), 400)


def test_plain_bytes_may_say_so(small: Any) -> None:
    assert post(small, BODY, "identity").status_code == 200


@pytest.mark.parametrize("coding", PACK)
def test_the_limit_is_on_what_comes_out(small: Any, coding: str) -> None:
    frame = BODY[: -len('"}')]
    whole = frame + b"x" * (LIMIT - len(frame) - 2) + b'"}'
    assert len(whole) == LIMIT
    assert post(small, PACK[coding](whole), coding).status_code == 200
    assert (
        refusal(post(small, PACK[coding](whole + b" "), coding), 413) == f"the body is over the limit of {LIMIT} bytes"
    )


def test_bombs_are_refused(small: Any) -> None:
    zeros = bytes(64 * 2**20)
    bomb = zlib.compressobj(9, wbits=31)
    gzipped = bomb.compress(zeros) + bomb.flush()
    for content, coding in ((gzipped, "gzip"), (zstd.compress(zeros), "zstd")):
        assert len(content) < LIMIT
        assert "over the limit" in refusal(post(small, content, coding), 413)
        assert "over the limit" in refusal(post(small, content[:2000], coding), 413)
    assert small.complete("a", max_tokens=1).status_code == 200


@pytest.mark.parametrize("coding", PACK)
def test_what_is_not_compressed_so(small: Any, coding: str) -> None:
    packed = PACK[coding](BODY)
    assert "ends too early" in refusal(post(small, packed[:-3], coding), 400)
    for content in (BODY, packed + b"rest", packed[:9] + b"\xff\xff\xff" + packed[12:]):
        assert refusal(post(small, content, coding), 400).startswith(f"the body is not valid {coding}: ")
    assert "not valid JSON" in refusal(post(small, PACK[coding](b"{"), coding), 400)
    assert "not UTF-8" in refusal(post(small, PACK[coding](b'{"prompt": "\xff"}'), coding), 400)


def test_a_zstd_window_of_more_than_a_receiver_owes(small: Any) -> None:
    options = {zstd.CompressionParameter.window_log: WINDOW_LOG + 1}
    stream = zstd.ZstdCompressor(options=options)
    assert "not valid zstd" in refusal(post(small, stream.compress(BODY) + stream.flush(), "zstd"), 400)


@pytest.mark.parametrize("coding", ["br", "deflate", "gzip, zstd", "compress", "*"])
def test_another_coding_is_refused_with_those_taken(small: Any, coding: str) -> None:
    answer = post(small, BODY, coding)
    assert refusal(answer, 415).startswith("content-encoding must be gzip, zstd or absent, got ")
    assert answer.headers["accept-encoding"] == "gzip, zstd"
