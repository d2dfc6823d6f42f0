"""The engine process: `python -P -m appliance.engine.main`, EngineConfig as one line of JSON on standard input.

Prints JSON lines: {"stage": name, "seconds": s} while it boots, then {"ready": true}, or {"error": text} and exit 2.
SIGTERM and Drain finish what runs and exit 0; steps that keep failing exit 1; the death of the parent ends it at once.
"""

import json
import logging
import os
import secrets
import signal
import sys
import threading
import time
from collections.abc import Callable

import msgspec
import zmq

from appliance.engine import logs
from appliance.engine.checkpoint.config import ModelConfig
from appliance.engine.checkpoint.errors import CheckpointError
from appliance.engine.config import EngineConfig
from appliance.engine.core.engine import Engine, EngineBroken
from appliance.engine.core.types import Runner
from appliance.engine.protocol import Ready, Request, SamplingParams
from appliance.engine.worker import Worker

logger = logging.getLogger("appliance.engine")

EndStage = Callable[[str], None]
Build = Callable[[EngineConfig, EndStage], tuple[Runner, ModelConfig, str]]
"""Loads the model, naming each stage as it ends: the runner, what it runs, and the fingerprint of its weights."""

PARENT_CHECK_SECONDS = 0.5
# Threads meet after every operation of torch. Sleeping there at once doubles the time of a step; spinning without end
# stops it for as long as another process, the API server among them, keeps one of them off its core.
OPENMP = {"GOMP_SPINCOUNT": "20000"}
WARM_UP_OWNER = b"warm-up"


class BootError(Exception):
    """Shown as one line."""


class Stages:
    """Names and seconds of the boot's stages, printed as they end."""

    def __init__(self) -> None:
        self.ended: list[tuple[str, float]] = []
        self._started = time.monotonic()

    def end(self, name: str) -> None:
        now = time.monotonic()
        self.ended.append((name, now - self._started))
        _print({"stage": name, "seconds": round(now - self._started, 4)})
        self._started = now


def main(build: Build | None = None) -> int:
    """`build` stands in for the real one, which imports torch."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with, args=(os.getppid(),), daemon=True).start()
    try:
        config = read_config(sys.stdin.buffer.readline())
        logs.configure(config.log_level, config.log_format)
        worker = boot(config, build)
    except (BootError, CheckpointError) as error:
        _print({"error": str(error)})
        return 2
    with worker:
        worker.drain_on_sigterm()
        _print({"ready": True})
        try:
            worker.run()
        except EngineBroken as error:
            logger.critical("%s", error)
            return 1
    return 0


def read_config(line: bytes) -> EngineConfig:
    try:
        return msgspec.json.decode(line, type=EngineConfig)
    except (msgspec.DecodeError, AssertionError) as error:
        raise BootError(f"the engine's configuration on standard input is unreadable: {error}") from error


def boot(config: EngineConfig, build: Build | None = None) -> Worker:
    """A worker whose model has produced real tokens. Raises BootError and CheckpointError."""
    stages = Stages()
    for name, value in OPENMP.items():
        os.environ.setdefault(name, value)
    if build is None:
        from appliance.engine.runner.build import build_runner

        build = build_runner
        stages.end("import torch")
    runner, model, fingerprint = build(config, stages.end)
    warm_up(config, runner, model)
    stages.end("warm up")
    engine = Engine(config, runner, model.vocab_size, model.eos_token_ids)
    ready = Ready(
        instance=secrets.token_hex(8),
        generation=config.generation,
        pid=os.getpid(),
        architecture=model.architecture,
        vocab_size=model.vocab_size,
        max_context=config.max_context,
        max_sequences=config.max_sequences,
        block_tokens=config.block_tokens,
        num_blocks=config.num_blocks,
        kv_dtype=config.kv_dtype,
        weights_fingerprint=fingerprint,
        boot_stages=stages.ended,
    )
    try:
        return Worker(config.address, engine, ready)
    except zmq.ZMQError as error:
        raise BootError(f"cannot listen on {config.address}: {error}") from error


def warm_up(config: EngineConfig, runner: Runner, model: ModelConfig) -> None:
    """A prompt and two tokens through an engine of its own, whose counters and cache are thrown away."""
    engine = Engine(config, runner, model.vocab_size, model.eos_token_ids)
    length = max(1, min(config.block_tokens, engine.limits.max_prompt))
    prompt = [(model.bos_token_id or 0) % model.vocab_size] * length
    sampling = SamplingParams(max_tokens=2, temperature=0.0, ignore_eos=True)
    refused = engine.add(WARM_UP_OWNER, [Request(request_id="warm-up", prompt=prompt, sampling=sampling)])
    updates = list(refused)
    while engine.has_work:
        updates.extend(engine.step().get(WARM_UP_OWNER, []))
    if updates[-1].finish_reason != "length":
        raise BootError(f"the first token did not come: {updates[-1].error}")


def _die_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(PARENT_CHECK_SECONDS)
    os._exit(1)


def _print(line: dict[str, object]) -> None:
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    sys.exit(main())
