"""The engine process with the fake runner in it, and what a client waits for."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO

import fake_engine_main

from appliance.child import environment
from appliance.engine.client import EngineClient

SCRIPT = Path(fake_engine_main.__file__)
SUPPORT = SCRIPT.parent


class Process:
    """One engine child; its boot lines are in `lines`."""

    def __init__(self, line: str, stderr: int | IO[bytes] | None = None, **variables: str) -> None:
        env = environment() | variables
        env["PYTHONPATH"] = os.pathsep.join([str(SUPPORT), str(SUPPORT.parent.parent), env.get("PYTHONPATH", "")])
        self.child = subprocess.Popen(
            [sys.executable, "-P", str(SCRIPT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env=env,
            text=True,
        )
        assert self.child.stdin and self.child.stdout
        self.child.stdin.write(line + "\n")
        self.child.stdin.flush()
        self.lines = []
        for text in self.child.stdout:
            self.lines.append(json.loads(text))
            if "ready" in self.lines[-1] or "error" in self.lines[-1]:
                break

    def end(self, number: int = signal.SIGKILL) -> int:
        self.child.send_signal(number)
        code = self.child.wait(20)
        self.close()
        return code

    def close(self) -> None:
        for pipe in (self.child.stdin, self.child.stdout):
            assert pipe
            pipe.close()


Start = Callable[..., Process]


async def collect(client: EngineClient, *requests) -> dict[str, list[int]]:
    tokens: dict[str, list[int]] = {request.request_id: [] for request in requests}
    async with client.generate(requests) as updates:
        async for update in updates:
            assert update.error is None
            tokens[update.request_id].extend(update.token_ids)
    return tokens


async def until(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.01)


def idle(client: EngineClient) -> Callable[[], bool]:
    """All slots and blocks are free again."""
    return lambda: (stats := client.stats) is not None and (stats.free_slots, stats.free_blocks) == (8, 256)
