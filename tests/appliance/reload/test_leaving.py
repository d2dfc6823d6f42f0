"""Connections to a server that leaves its port: what is asked over them is answered, and told to be the last."""

import http.client
from collections.abc import Callable
from pathlib import Path

import httpx
from faked import faked
from walk import free_port


def test_open_connections_are_answered(tmp_path: Path, tiny_model: Callable[..., Path]) -> None:
    environment = {"FAKE_CHILDREN": "no", "FAKE_SETTLE": "0.3"}
    settings = {"model": str(tiny_model("qwen3")), "pool": "64MiB"}
    with faked(tmp_path, environment=environment, **settings) as made:
        old = httpx.URL(made.up.base_url)
        fresh, used = (http.client.HTTPConnection("127.0.0.1", old.port or 0, timeout=30) for _ in range(2))
        fresh.connect()
        used.request("GET", "/v1/models")
        first = used.getresponse()
        assert first.status == 200 and first.getheader("connection") != "close" and first.read()
        assert "applied" in made.edit(**settings, bind=f"127.0.0.1:{free_port()}")
        made.up.wait_for("leaving: running requests")
        for connection in (fresh, used):
            connection.request("POST", "/v1/completions", '{"prompt": "yes"}', {"content-type": "application/json"})
            answer = connection.getresponse()
            assert (answer.status, answer.getheader("connection")) == (200, "close"), answer.read()
            assert answer.read()
            connection.close()
        assert made.get("/ready").status_code == 200
