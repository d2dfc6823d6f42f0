"""The supervisor's parts that need no process: addresses, restarts, the suggested call."""

import os
import socket

import pytest

from appliance.diagnostics import ApplianceError, Position
from appliance.server.config import ServerConfig
from appliance.supervise.hint import hint
from appliance.supervise.listener import listen, url
from appliance.supervise.restart import RestartPolicy

POSITION = Position("p.yaml", 9, 9)


def refusal(bind: str) -> str:
    with pytest.raises(ApplianceError) as caught:
        listen(bind, POSITION)
    assert caught.value.exit_code == 2
    text = str(caught.value)
    assert text.startswith("p.yaml:9:9 AP0601 error security.bind: ")
    return text


def test_port_in_use_names_port_and_process() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        text = refusal(f"127.0.0.1:{port}")
    assert f"port {port} on 127.0.0.1 is in use by " in text
    assert f"(process {os.getpid()})" in text
    assert "--bind 127.0.0.1:" in text


@pytest.mark.parametrize("bind", ["8000", "127.0.0.1", ":80", "127.0.0.1:70000", "192.0.2.1:80", "host.invalid:80"])
def test_addresses_that_cannot_be_had(bind: str) -> None:
    refusal(bind)


def test_address_of_a_client_on_this_machine() -> None:
    with listen("0.0.0.0:0", POSITION) as listener:
        assert url(listener) == f"http://127.0.0.1:{listener.getsockname()[1]}"
    with listen("[::1]:0", POSITION) as listener:
        assert url(listener) == f"http://[::1]:{listener.getsockname()[1]}"


def test_restart_waits_grow_and_end() -> None:
    policy = RestartPolicy(limit=4, window=10.0, first=1.0, factor=3.0, ceiling=5.0)
    assert policy.delay([0.0], 0.0) == 1.0
    assert policy.delay([0.0, 1.0], 1.0) == 3.0
    assert policy.delay([0.0, 1.0, 2.0], 2.0) == 5.0
    assert policy.delay([0.0, 1.0, 2.0, 3.0], 3.0) is None
    assert policy.delay([0.0, 1.0, 2.0, 60.0], 60.0) == 1.0


def test_suggested_call_carries_the_key_by_name() -> None:
    plain = ServerConfig("", "m", ("it's",), 128, "p", "0.32", {})
    assert "Authorization" not in hint("http://127.0.0.1:1", plain)
    assert "it'\\''s" in hint("http://127.0.0.1:1", plain)
    keyed = ServerConfig("", "m", ("x",), 128, "p", "0.32", {}, api_keys=({"env": "MY_KEY"},))
    assert "Bearer $MY_KEY" in hint("http://127.0.0.1:1", keyed)
