"""The child that the supervisor starts as one replica: VllmConfig as one JSON line on standard input.

Starts vLLM, passes its output on, and prints `{"stage"...}` lines, `{"ready": true}` once a real answer has come out,
or `{"error": text}` with exit code 2 when vLLM ends or hangs before. SIGTERM ends vLLM gracefully, SIGKILL at once.
"""

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections import deque
from pathlib import Path

import httpx
import msgspec
from tenacity import AsyncRetrying, retry_if_exception_type, wait_fixed

from appliance.child import command, environment
from appliance.vllm.config import VllmConfig
from appliance.vllm.descendants import adopt_orphans, kill_descendants
from appliance.vllm.proofs import PROOFS
from appliance.vllm.telling import telling_lines
from appliance.vllm.transport import make_client

GRACE = 4.0
"""Seconds vLLM gets to end by itself."""
POLL_SECONDS = 0.1
KEPT_LINES = 500
LINE_BYTES = 1 << 20


class NotWorkingError(Exception):
    """It answers, and not as it should; asking again would not change that."""


def say(message: dict[str, object]) -> None:
    sys.stdout.write(msgspec.json.encode(message).decode() + "\n")
    sys.stdout.flush()


class Child:
    def __init__(self, config: VllmConfig) -> None:
        self.config = config
        self.started = time.monotonic()
        self.lines: deque[str] = deque(maxlen=KEPT_LINES)

    async def run(self) -> int:
        config = self.config
        Path(config.socket).unlink(missing_ok=True)
        # a pipe of our own: asyncio waits for the end of its pipes too, which orphans of a killed guard hold open
        self.output, written = os.pipe()
        self.guard = await asyncio.create_subprocess_exec(
            *command("appliance.vllm.guard", str(GRACE), *config.argv()),
            stdin=asyncio.subprocess.PIPE,
            stdout=written,
            stderr=asyncio.subprocess.STDOUT,
            env=config.child_environment(environment()),
        )
        os.close(written)
        stopping = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, stopping.set)
        ended = asyncio.create_task(self._until_over())
        stop = asyncio.create_task(stopping.wait())
        boot = asyncio.create_task(self._boot())
        try:
            await asyncio.wait({ended, stop, boot}, return_when=asyncio.FIRST_COMPLETED)
            problem = None if stop.done() else self._problem(boot, ended.done())
            if problem is None and not stop.done():
                say({"ready": True})
                await asyncio.wait({ended, stop}, return_when=asyncio.FIRST_COMPLETED)
            if problem is not None:
                say({"error": problem})
            await self._end(graceful=problem is None)
            code = await ended
            return 2 if problem is not None else 0 if stop.done() else code or 1
        finally:
            boot.cancel()
            stop.cancel()
            Path(config.socket).unlink(missing_ok=True)

    def _problem(self, boot: "asyncio.Task[None]", over: bool) -> str | None:
        """Why it will not serve; None = it does."""
        if over:
            return f"vLLM ended while booting: {'; '.join(telling_lines(self.lines)) or 'it said nothing'}"
        error = boot.exception()
        if isinstance(error, TimeoutError):
            last = "; ".join(telling_lines(self.lines)[-1:]) or "nothing"
            limit, estimate = self.config.boot_limit, self.config.boot_seconds
            return f"vLLM is not ready after {limit:g} s, about {estimate:g} s were expected; it last said: {last}"
        if isinstance(error, NotWorkingError):
            return str(error)
        if error is not None:
            raise error
        return None

    async def _boot(self) -> None:
        """Until a real answer has come. TimeoutError, NotWorkingError."""
        async with (
            asyncio.timeout(self.config.boot_limit),
            make_client(self.config.address, httpx.Timeout(self.config.boot_limit)) as client,
        ):
            async for attempt in AsyncRetrying(
                wait=wait_fixed(POLL_SECONDS), retry=retry_if_exception_type((httpx.HTTPError, OSError)), reraise=True
            ):
                with attempt:
                    (await client.get("/health")).raise_for_status()
            self._stage("vLLM answers")
            answer = await PROOFS[self.config.proof](client, self.config.served_names[0])
            if answer.status_code != 200:
                said = answer.text[:500]
                raise NotWorkingError(f"vLLM answered its first {self.config.proof} with {answer.status_code}: {said}")
            self._stage(f"first {self.config.proof}")

    def _stage(self, name: str) -> None:
        now = time.monotonic()
        say({"stage": name, "seconds": round(now - self.started, 3)})
        self.started = now

    async def _until_over(self) -> int:
        """Passes on what vLLM writes until nothing of it is left; its exit code."""
        relay = asyncio.create_task(self._relay())
        code = await self.guard.wait()
        kill_descendants()
        await relay
        return code

    async def _relay(self) -> None:
        reader = asyncio.StreamReader(limit=LINE_BYTES)
        with os.fdopen(self.output, "rb", buffering=0) as output:
            await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), output)
            await self._pass_on(reader)

    async def _pass_on(self, reader: asyncio.StreamReader) -> None:
        while True:
            try:
                raw = await reader.readline()
            except ValueError:
                continue
            if not raw:
                return
            line = raw.decode(errors="replace").rstrip()
            if line:
                self.lines.append(line)
                sys.stderr.write(line + "\n")
                sys.stderr.flush()

    async def _end(self, graceful: bool) -> None:
        assert self.guard.stdin is not None
        if graceful and self.guard.returncode is None:
            with contextlib.suppress(ConnectionError):
                self.guard.stdin.write(b"end\n")
                await self.guard.stdin.drain()
        else:
            self.guard.stdin.close()


def main() -> int:
    config = msgspec.json.decode(sys.stdin.readline(), type=VllmConfig)
    adopt_orphans()
    return asyncio.run(Child(config).run())


if __name__ == "__main__":
    sys.exit(main())
