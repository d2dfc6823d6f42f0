"""Carried between two real engines: the client's stream equals the one that nothing interrupted."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec
import pytest

from appliance.engine.config import EngineConfig

ROOT = Path(__file__).resolve().parents[3]
TOKENS = 400


@pytest.fixture(scope="module")
def real(tiny_model: Callable[..., Path], launcher: Any) -> Iterator[tuple[Any, list[str]]]:
    """A server, and the addresses of two engines of one tiny model."""
    model = tiny_model("qwen3")
    with ExitStack() as stack:
        server = stack.enter_context(
            launcher(model, boot_engine=False, endpoints={"systemone": "off"}, max_context=512, queue_requests=64)
        )
        addresses = [f"ipc://{server.folder / name}" for name in ("one", "two")]
        for address in addresses:
            config = EngineConfig(address, str(model), "float32", "float32", 16, 256, 512, 16, 512, threads=1)
            stack.enter_context(engine(config))
        server.switch(engine_addresses=addresses[:1], seconds=240)
        yield server, addresses


class engine:  # noqa: N801 - a context manager
    def __init__(self, config: EngineConfig) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "appliance.engine.main"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        assert self._process.stdin
        self._process.stdin.write(msgspec.json.encode(config) + b"\n")
        self._process.stdin.flush()

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()


def stream(server: Any, between: Callable[[], None] | None, **more: Any) -> list[Any]:
    """Every choice's text, ids, log-probabilities and end, and the usage; `between` happens after some tokens."""
    body = {
        "prompt": "once upon a time",
        "max_tokens": TOKENS,
        "ignore_eos": True,
        "stream": True,
        "return_token_ids": True,
        "logprobs": 2,
        "stream_options": {"include_usage": True},
        **more,
    }
    choices: dict[int, dict[str, Any]] = {}
    usage = None
    with server.http.stream("POST", "/v1/completions", json=body) as answer:
        for line in answer.iter_lines():
            if not line or line == "data: [DONE]":
                continue
            value = json.loads(line.removeprefix("data: "))
            assert "error" not in value, value
            usage = value.get("usage") or usage
            for choice in value["choices"]:
                got = choices.setdefault(choice["index"], {"text": "", "ids": [], "logprobs": [], "end": None})
                got["text"] += choice["text"]
                got["ids"] += choice["token_ids"] or []
                got["logprobs"] += (choice["logprobs"] or {}).get("token_logprobs", [])
                got["end"] = choice["finish_reason"] or got["end"]
            if between and all(len(got["ids"]) >= 5 for got in choices.values()) and choices:
                between()
                between = None
    assert between is None and usage
    return [[choices[number] for number in sorted(choices)], usage["completion_tokens"], usage["prompt_tokens"]]


@pytest.mark.parametrize(
    "how",
    [
        {"temperature": 0},
        {"temperature": 0.9, "seed": 11, "n": 3, "repetition_penalty": 1.2, "presence_penalty": 0.3, "min_tokens": 80},
    ],
    ids=["greedy", "seeded"],
)
def test_a_carried_stream_equals_an_uninterrupted_one(real: tuple[Any, list[str]], how: dict[str, Any]) -> None:
    server, (one, two) = real

    def carry() -> None:
        server.tell("switch")
        ends = server.tell("retire", addresses=[one], seconds=0, carry=True)
        assert ends.get("carried") == how.get("n", 1), ends

    expected, *numbers = stream(server, None, **how)
    assert "error" not in server.prepare(engine_addresses=[two], probe=False, seconds=240)
    got, *same_numbers = stream(server, carry, **how)
    server.switch(engine_addresses=[one])
    assert same_numbers == numbers == [TOKENS * how.get("n", 1), numbers[1]]
    for choice, other in zip(got, expected, strict=True):
        assert choice["ids"] == other["ids"]
        assert (choice["text"], choice["end"]) == (other["text"], other["end"])
        assert choice["logprobs"] == pytest.approx(other["logprobs"], abs=2e-5)
