"""The real engine process over its real socket: boot, bursts, garbage, logs, servers that share it."""

import asyncio
import json
import os
from pathlib import Path

import fake_engine_main
import pytest
import zmq
from engine_process import Process, Start, collect, idle, until
from fake_runner import VOCAB, ask, continuation

from appliance.engine.client import EngineClient, EngineDied
from appliance.engine.protocol import ENCODER, FROM_ENGINE, Abort, Hello, Submit


def test_boot_reports_its_stages_and_a_request_gets_its_tokens(start: Start, address: str) -> None:
    process = start()
    assert [list(line) for line in process.lines] == [["stage", "seconds"], ["stage", "seconds"], ["ready"]]

    async def scenario() -> None:
        async with EngineClient(address) as client:
            ready = await client.wait_ready(10)
            assert (ready.pid, ready.vocab_size, ready.kv_tokens) == (process.child.pid, VOCAB, 1024)
            assert [name for name, _ in ready.boot_stages] == ["load weights", "warm up"]
            streams = client.submit([ask("a", [1, 2], 5), ask("b", [3], 2)])
            for name, prompt, count in (("a", [1, 2], 5), ("b", [3], 2)):
                got = [update async for update in streams[name]]
                assert [token for update in got for token in update.token_ids] == continuation(prompt, count)
                assert [update.finish_reason for update in got][-1] == "length"
            await until(lambda: client.stats is not None and client.stats.generation_tokens == 7)
            await until(idle(client))

    asyncio.run(scenario())


def test_a_thousand_requests_at_once(start: Start, address: str) -> None:
    start()

    async def scenario() -> None:
        async with EngineClient(address) as client:
            await client.wait_ready(10)
            async with asyncio.TaskGroup() as group:
                tasks = {
                    index: group.create_task(collect(client, ask(f"r{index}", [index % 90, index % 7], 3)))
                    for index in range(1000)
                }
            for index, task in tasks.items():
                assert task.result() == {f"r{index}": continuation([index % 90, index % 7], 3)}
            await until(idle(client))

    asyncio.run(scenario())


def test_a_cancelled_reader_frees_its_slot(start: Start, address: str) -> None:
    start(step_seconds=0.005)

    async def scenario() -> None:
        async with EngineClient(address) as client:
            await client.wait_ready(10)
            readers = [asyncio.create_task(collect(client, ask(f"r{index}", [index], 190))) for index in range(12)]
            await until(lambda: client.stats is not None and client.stats.running == 8 and client.stats.waiting == 4)
            for reader in readers:
                reader.cancel()
            await asyncio.gather(*readers, return_exceptions=True)
            await until(idle(client))
            assert client.stats and client.stats.generation_tokens < 8 * 190
            assert await collect(client, ask("r0", [1], 2)) == {"r0": continuation([1], 2)}

    asyncio.run(scenario())


def test_hostile_bytes_do_not_disturb_the_others(start: Start, address: str) -> None:
    start()
    good = ENCODER.encode(Submit([ask("a", [1], 2)]))
    with zmq.Context() as context, context.socket(zmq.DEALER) as socket:
        socket.connect(address)
        for garbage in (b"", b"\x00" * 1000, b"\xff" * 10, good[:-3], b"\x91" * 5000, os.urandom(4096), good + b"x"):
            socket.send(garbage)
        socket.send_multipart([b"", b"", good[:7]])
        socket.send(ENCODER.encode(Abort(["nobody"])))
        wrong = {"request_id": 5, "prompt": "x", "sampling": None}
        socket.send(ENCODER.encode({"type": "submit", "requests": [wrong]}))

        async def scenario() -> None:
            async with EngineClient(address) as client:
                await client.wait_ready(10)
                assert await collect(client, ask("a", [1], 9)) == {"a": continuation([1], 9)}

        asyncio.run(scenario())
        socket.linger = 0


def test_a_new_hello_ends_what_the_server_had_asked_for(start: Start, address: str) -> None:
    start(step_seconds=0.005)
    with zmq.Context() as context, context.socket(zmq.DEALER) as socket:
        socket.connect(address)
        socket.rcvtimeo = 10_000
        socket.linger = 0
        socket.send(ENCODER.encode(Submit([ask("a", [1], 190)])))
        assert type(FROM_ENGINE.decode(socket.recv())).__name__ in ("Outputs", "Stats")
        socket.send(ENCODER.encode(Hello()))
        while type(message := FROM_ENGINE.decode(socket.recv())).__name__ != "Ready":
            pass
        while type(message).__name__ != "Stats":
            message = FROM_ENGINE.decode(socket.recv())
        assert (message.running, message.free_slots) == (0, 8)


def test_two_servers_may_use_the_same_ids(start: Start, address: str) -> None:
    start()

    async def scenario() -> None:
        async with EngineClient(address) as one, EngineClient(address) as two:
            await one.wait_ready(10)
            await two.wait_ready(10)
            first, second = await asyncio.gather(collect(one, ask("a", [1], 20)), collect(two, ask("a", [2], 20)))
            assert first == {"a": continuation([1], 20)} and second == {"a": continuation([2], 20)}
            with pytest.raises(ValueError, match="unique"):
                one.submit([ask("x", [1]), ask("x", [2])])

    asyncio.run(scenario())


def test_a_step_that_raises_ends_its_requests_only(start: Start, address: str) -> None:
    process = start()

    async def scenario() -> None:
        async with EngineClient(address) as client:
            await client.wait_ready(10)
            async with client.generate([ask("bad", [*fake_engine_main.POISON, 1])]) as updates:
                (update,) = [update async for update in updates]
            assert update.finish_reason == "error" and "poisoned prompt" in (update.error or "")
            assert await collect(client, ask("good", [1], 3)) == {"good": continuation([1], 3)}
            with pytest.raises(EngineDied):
                for index in range(3):
                    async with client.generate([ask(f"bad{index}", [*fake_engine_main.POISON, 1])]) as updates:
                        async for _ in updates:
                            pass

    asyncio.run(scenario())
    assert process.child.wait(10) == 1
    process.close()


@pytest.mark.parametrize(("level", "form"), [("debug", "json"), ("error", "json"), ("debug", "text")])
def test_logs_have_the_level_and_form_of_the_profile(
    start: Start, address: str, tmp_path: Path, level: str, form: str
) -> None:
    log = tmp_path / "log"
    with log.open("wb") as file:
        process = start(stderr=file, log_level=level, log_format=form)

    async def scenario() -> None:
        for _ in range(2):
            async with EngineClient(address) as client:
                await client.wait_ready(10)
                if not log.stat().st_size:
                    async with client.generate([ask("bad", [*fake_engine_main.POISON, 1])]) as updates:
                        assert [update.finish_reason async for update in updates] == ["error"]
        async with EngineClient(address) as client:
            await until(lambda: level == "error" or "has left" in log.read_text())

    asyncio.run(scenario())
    process.end()
    lines = log.read_text().splitlines()
    if form == "text":
        assert any(" ERROR " in line and "step failed" in line for line in lines)
        return
    records = [json.loads(line) for line in lines]
    (failed,) = [record for record in records if record["level"] == "error"]
    assert failed["message"].startswith("step failed") and "poisoned prompt" in failed["exception"]
    assert ({record["level"] for record in records} == {"error"}) == (level == "error")


@pytest.mark.parametrize(
    ("line", "says"),
    [("", "unreadable"), ("{", "unreadable"), ('{"address": 5}', "unreadable"), ("[1]", "unreadable")],
)
def test_a_configuration_that_cannot_be_read_is_one_line(line: str, says: str) -> None:
    process = Process(line)
    assert says in process.lines[-1]["error"]
    assert process.child.wait(10) == 2
    process.close()


def test_known_boot_errors_are_one_line(start: Start, tmp_path: Path) -> None:
    process = start(build="checkpoint")
    assert process.lines == [{"error": ": the file ends after 12 of 400 bytes; fetch it again"}]
    assert process.child.wait(10) == 2
    process.close()
    nowhere = start(address=f"ipc://{tmp_path}/no/such/folder/e.sock")
    assert "cannot listen on ipc://" in nowhere.lines[-1]["error"]
    assert nowhere.child.wait(10) == 2
    nowhere.close()
