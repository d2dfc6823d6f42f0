"""Bodies and headers that are too much, too deep, or no JSON at all."""

import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest

URL = "/v1/completions"


def post(server: Any, content: Any, media_type: str = "application/json") -> Any:
    return server.http.post(URL, content=content, headers={"Content-Type": media_type})


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b'{"prompt": "a"',
        b"[1]",
        b'"a"',
        b"null",
        b'{"prompt": NaN}',
        b'{"a": 1e999}',
        b"\xef\xbb\xbf{}",
        b"{}{}",
    ],
)
def test_what_is_no_json_object(server: Any, content: bytes) -> None:
    answer = post(server, content)
    assert answer.status_code == 400
    assert answer.json()["error"]["message"].startswith("the body")


@pytest.mark.parametrize(
    "content", [b'{"prompt": "\xff"}', b'{"prompt": "\xc3("}', '{"prompt": "é"}'.encode("utf-16"), b"\x00\x80"]
)
def test_what_is_not_utf8(server: Any, content: bytes) -> None:
    answer = post(server, content)
    assert answer.status_code == 400
    assert "not UTF-8" in answer.json()["error"]["message"]


def test_half_a_surrogate_pair(server: Any) -> None:
    assert post(server, rb'{"prompt": "\ud800"}').status_code == 400


def test_another_media_type(server: Any) -> None:
    assert post(server, b"prompt=a", "application/x-www-form-urlencoded").status_code == 415
    assert post(server, b'{"prompt": "a", "max_tokens": 1}', "application/json; charset=utf-8").status_code == 200


@pytest.mark.parametrize("depth", [81, 5_000, 1_000_000])
def test_deep_nesting(server: Any, depth: int) -> None:
    answer = post(server, b'{"prompt": "a", "x": ' + b"[" * depth + b"]" * depth + b"}")
    assert answer.status_code == 400
    assert "deep" in answer.json()["error"]["message"]


def test_a_schema_deeper_than_the_limit(server: Any) -> None:
    schema: Any = {}
    for _ in range(65):
        schema = {"a": schema}
    answer = server.chat("a", response_format=schema)
    assert answer.json()["error"]["message"] == "response_format nests deeper than 64 levels"


@pytest.fixture(scope="module")
def small(model: Any, launcher: Any) -> Iterator[Any]:
    with launcher(model, body_bytes=1000) as server:
        yield server


def body_of(size: int) -> bytes:
    frame = json.dumps({"prompt": "a", "max_tokens": 1, "user": ""}).encode()
    return frame.replace(b'"user": ""', b'"user": "' + b"x" * (size - len(frame)) + b'"')


def test_a_body_over_the_limit(small: Any) -> None:
    assert post(small, body_of(1000)).status_code == 200
    answer = post(small, body_of(1001))
    assert answer.status_code == 413
    assert answer.json()["error"]["message"] == "the body is over the limit of 1000 bytes"


def test_a_chunked_body_over_the_limit(small: Any) -> None:
    assert post(small, iter([body_of(900)])).status_code == 200
    assert post(small, iter([b"x" * 600, b"x" * 600])).status_code == 413


def test_a_chunked_body_is_refused_before_its_end(small: Any) -> None:
    with socket.create_connection(("127.0.0.1", small.port), timeout=20) as raw:
        head = f"POST {URL} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        raw.sendall(head.encode() + b"7d0\r\n" + b"x" * 2000 + b"\r\n")
        assert raw.recv(100).startswith(b"HTTP/1.1 413")


def test_a_declared_length_over_the_limit_is_refused_unread(small: Any) -> None:
    with socket.create_connection(("127.0.0.1", small.port), timeout=20) as raw:
        raw.sendall(
            f"POST {URL} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n".encode()
            + b"Content-Length: 99999999\r\n\r\n"
        )
        assert raw.recv(100).startswith(b"HTTP/1.1 413")


@pytest.mark.parametrize(
    "sent",
    [
        b"GET /health HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 70_000 + b"\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 200_000,
        b"GET /health HTTP/1.1\r\nHost: x\r\n" + b"X: a\r\n" * 300 + b"\r\n",
        b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
    ids=["long", "endless", "many", "path"],
)
def test_headers_over_the_limit(server: Any, sent: bytes) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as raw:
        raw.sendall(sent)
        assert raw.recv(100).startswith(b"HTTP/1.1 431")
    assert server.http.get("/health").status_code == 200


def test_long_headers_within_the_limit_and_a_kept_connection(server: Any) -> None:
    for _ in range(5):
        answer = server.http.post(
            URL, json={"prompt": "a", "max_tokens": 1, "user": "u" * 60_000}, headers={"X": "a" * 30_000}
        )
        assert answer.status_code == 200


def test_what_is_no_http(server: Any) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as raw:
        raw.sendall(b"\x16\x03\x01 nonsense\r\n\r\n")
        assert raw.recv(100).startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b'{"prompt": "a", "prompt": "b"}', "prompt"),
        (b'{"prompt": "a", "n": 1, "n": 1}', "n"),
        (b'{"prompt": "a", "logit_bias": {"5": 1, "6": 1, "5": 2}}', "5"),
        (b'{"prompt": "a", "x": [1, {"y": [[{"z": {}, "z": []}]]}]}', "z"),
        (b'{"prompt": "a", "pr\\u006fmpt": "b"}', "prompt"),
        (b'{"prompt": "a:b:c", "": 1, "": 2}', ""),
        (b'{"prompt": "a", "n": ' + b"9" * 4000 + b', "x": {"y": 1, "y": 2}}', "y"),
    ],
)
def test_a_name_twice_in_one_object(server: Any, content: bytes, name: str) -> None:
    answer = post(server, content)
    assert answer.status_code == 400
    assert answer.json()["error"]["message"] == f'the body has "{name}" twice in one object'
    assert answer.json()["error"]["param"] == name


def test_a_name_in_two_objects_and_colons_in_text(server: Any) -> None:
    body = {
        "prompt": 'a: "b": {"c":',
        "user": "\x7f:",
        "x": [{"a": 1, "b": {"a": 1e5}}, {"a": -(10**30)}],
        "max_tokens": 1,
    }
    assert post(server, json.dumps(body)).status_code == 200
