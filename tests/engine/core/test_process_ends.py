"""The real engine process and its servers end, by force or in order, and leave nothing behind."""

import asyncio
import contextlib
import dataclasses
import itertools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from engine_process import SCRIPT, SUPPORT, Start, collect, idle, until
from fake_runner import ask, continuation, engine_config

from appliance.child import environment
from appliance.engine.client import EngineClient, EngineDied
from appliance.engine.protocol import ENCODER, Submit


def test_a_killed_engine_ends_the_streams_and_a_new_one_is_found(start: Start, address: str) -> None:
    first = start(step_seconds=0.01)

    async def scenario() -> None:
        async with EngineClient(address) as client:
            before = await client.wait_ready(10)
            reader = asyncio.create_task(collect(client, ask("a", [1], 190), ask("b", [2], 190)))
            await until(lambda: client.stats is not None and client.stats.running == 2)
            first.end(signal.SIGKILL)
            with pytest.raises(EngineDied, match="gone"):
                await asyncio.wait_for(reader, 5)
            assert client.ready is None and client.reason.startswith("the engine process is gone")
            with pytest.raises(EngineDied):
                client.submit([ask("c", [1])])
            await asyncio.to_thread(start)
            after = await client.wait_ready(10)
            assert after.instance != before.instance
            assert await collect(client, ask("a", [1], 4)) == {"a": continuation([1], 4)}

    asyncio.run(scenario())


def test_a_server_that_is_killed_frees_its_slots(start: Start, address: str) -> None:
    start(step_seconds=0.01)
    server = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys, time, zmq\n"
            "socket = zmq.Context().socket(zmq.DEALER)\n"
            "socket.connect(sys.argv[1])\n"
            "socket.send(bytes.fromhex(sys.argv[2]))\n"
            "socket.recv()\n"
            "print('running', flush=True)\n"
            "time.sleep(60)",
            address,
            ENCODER.encode(Submit([ask(f"r{index}", [index], 190) for index in range(20)])).hex(),
        ],
        stdout=subprocess.PIPE,
    )
    assert server.stdout and server.stdout.readline() == b"running\n"

    async def scenario() -> None:
        async with EngineClient(address) as client:
            await client.wait_ready(10)
            await until(lambda: client.stats is not None and client.stats.running == 8)
            server.kill()
            server.wait()
            await until(idle(client))
            assert client.stats and client.stats.waiting == 0

    asyncio.run(scenario())
    server.stdout.close()


@pytest.mark.parametrize("by", ["SIGTERM", "Drain"])
def test_draining_finishes_what_runs_and_refuses_the_rest(start: Start, address: str, by: str) -> None:
    process = start(step_seconds=0.01)

    async def scenario() -> None:
        async with EngineClient(address) as client:
            await client.wait_ready(10)
            running = [asyncio.create_task(collect(client, ask(f"r{index}", [index], 60))) for index in range(10)]
            await until(lambda: client.stats is not None and client.stats.running == 8)
            if by == "Drain":
                client.drain()
            else:
                process.child.send_signal(signal.SIGTERM)
            for index in itertools.count():
                async with client.generate([ask(f"late{index}", [1], 1)]) as updates:
                    (late,) = [update async for update in updates]
                if late.error is not None:
                    break
            assert late.error == "the engine is draining"
            for index, task in enumerate(running):
                assert await task == {f"r{index}": continuation([index], 60)}

    asyncio.run(scenario())
    assert process.child.wait(10) == 0
    process.close()


def test_an_idle_engine_ends_at_once_on_sigterm(start: Start) -> None:
    assert start().end(signal.SIGTERM) == 0


def test_the_engine_does_not_outlive_its_parent(tmp_path: Path) -> None:
    config = json.dumps(dataclasses.asdict(engine_config(address=f"ipc://{tmp_path}/e.sock")))
    env = environment() | {"PYTHONPATH": os.pathsep.join([str(SUPPORT), str(SUPPORT.parent.parent)])}
    parent = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import subprocess, sys, time\n"
            "child = subprocess.Popen([sys.executable, '-P', sys.argv[1]], stdin=subprocess.PIPE)\n"
            "child.stdin.write(sys.argv[2].encode() + b'\\n'); child.stdin.flush()\n"
            "print(child.pid, flush=True); time.sleep(60)",
            str(SCRIPT),
            config,
        ],
        stdout=subprocess.PIPE,
        text=True,
        env=env,
    )
    assert parent.stdout
    pid = int(parent.stdout.readline())
    while json.loads(parent.stdout.readline()) != {"ready": True}:
        pass
    engine = psutil.Process(pid)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    with contextlib.suppress(psutil.NoSuchProcess):
        deadline = time.monotonic() + 10
        while engine.status() != psutil.STATUS_ZOMBIE:
            assert time.monotonic() < deadline, "the engine is still there"
            time.sleep(0.05)


def test_a_client_leaves_no_descriptor_and_no_task(start: Start, address: str) -> None:
    start()

    async def scenario() -> None:
        me = psutil.Process()
        counts = []
        for _ in range(6):
            async with EngineClient(address) as client:
                await client.wait_ready(10)
                await collect(client, ask("a", [1], 2))
                client.submit([ask("left open", [1], 100)])
            counts.append((me.num_fds(), me.num_threads(), len(asyncio.all_tasks())))
        assert counts[1:] == [counts[1]] * 5
        async with EngineClient(address) as client:
            await until(idle(client))

    asyncio.run(scenario())
