"""A running engine process is given new settings, and requests that another one began."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from engine_process import Start, collect, until
from fake_runner import ask, continuation
from msgspec import structs

from appliance.engine import protocol
from appliance.engine.client import EngineClient, EngineDied


def test_every_server_hears_of_new_settings_and_no_request_notices(start: Start, address: str) -> None:
    start(step_seconds=0.01)

    async def scenario() -> None:
        async with EngineClient(address) as one, EngineClient(address) as two:
            before = await one.wait_ready(10)
            await two.wait_ready(10)
            loads = [
                asyncio.create_task(collect(client, *[ask(f"r{index}", [index], 90) for index in range(10)]))
                for client in (one, two)
            ]
            await until(lambda: one.stats is not None and one.stats.running == 8)
            await one.reconfigure({"max_sequences": 20, "max_context": 150, "max_batch_tokens": 64}, timeout=10)
            assert one.ready and (one.ready.max_sequences, one.ready.max_context) == (20, 150)
            assert one.ready.instance == before.instance
            await until(lambda: two.ready == one.ready)
            await until(lambda: two.stats is not None and two.stats.running > 8)
            await two.reconfigure({"max_sequences": 2, "prefix_caching": False}, timeout=10)
            late = await collect(two, ask("late", [7], 3))
            assert late == {"late": continuation([7], 3)}
            for load in loads:
                assert await load == {f"r{index}": continuation([index], 90) for index in range(10)}
            await until(lambda: one.stats is not None and one.stats.free_slots == 2)
            assert one.stats and one.stats.free_blocks == 256

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"max_sequences": 0, "max_context": 90}, "max_sequences is 0"),
        ({"dtype": "bfloat16"}, "dtype needs a new engine"),
        ({"log_level": "quiet"}, "log_level is 'quiet'"),
    ],
)
def test_a_refusal_comes_back_in_words(start: Start, address: str, settings: dict[str, Any], says: str) -> None:
    start()

    async def scenario() -> None:
        async with EngineClient(address) as client:
            before = await client.wait_ready(10)
            with pytest.raises(ValueError, match=says):
                await client.reconfigure(settings, timeout=10)
            assert await collect(client, ask("a", [1], 3)) == {"a": continuation([1], 3)}
            assert client.ready == before

    asyncio.run(scenario())


def test_a_hundred_changes_under_load(start: Start, address: str) -> None:
    start(step_seconds=0.001)

    async def scenario() -> None:
        async with EngineClient(address) as client:
            await client.wait_ready(10)
            load = [asyncio.create_task(collect(client, ask(f"r{index}", [index], 150))) for index in range(30)]
            for index in range(100):
                await client.reconfigure(
                    {
                        "max_sequences": 1 + index * 7 % 12,
                        "max_batch_tokens": 12 + index * 5 % 30,
                        "prefix_caching": index % 3 > 0,
                        "chunked_prefill": index % 2 > 0,
                    },
                    timeout=10,
                )
            for index, task in enumerate(load):
                assert await task == {f"r{index}": continuation([index], 150)}

    asyncio.run(scenario())


def test_the_log_changes_level_and_form(start: Start, address: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with log.open("wb") as file:
        start(stderr=file, log_level="error", log_format="text")

    async def scenario() -> None:
        async with EngineClient(address) as client:
            await client.wait_ready(10)
            await client.reconfigure({"max_sequences": 4}, timeout=10)
            assert log.read_text() == ""
            await client.reconfigure({"log_level": "info", "log_format": "json"}, timeout=10)

    asyncio.run(scenario())
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert lines[0]["message"] == "takes new settings: log_level info, log_format json"


def test_a_request_moves_from_one_engine_to_the_next(start: Start, tmp_path: Path) -> None:
    addresses = [f"ipc://{tmp_path}/{name}.sock" for name in ("old", "new")]
    for address in addresses:
        start(step_seconds=0.005, address=address)

    async def scenario() -> None:
        request = ask("a", [1, 2, 3], 100)
        tokens: list[int] = []
        async with EngineClient(addresses[0]) as old, EngineClient(addresses[1]) as new:
            await old.wait_ready(10)
            await new.wait_ready(10)
            async with old.generate([request]) as updates:
                async for update in updates:
                    tokens.extend(update.token_ids)
                    if len(tokens) == 30:
                        break
            going = structs.replace(request, generated=tokens)
            assert tokens + (await collect(new, going))["a"] == continuation([1, 2, 3], 100)

    asyncio.run(scenario())


def test_adapters_come_and_go_under_load(start: Start, address: str) -> None:
    start(step_seconds=0.005, num_blocks=256)

    async def scenario() -> None:
        async with EngineClient(address) as one, EngineClient(address) as two:
            await one.wait_ready(10)
            await two.wait_ready(10)
            base = asyncio.create_task(collect(two, ask("base", [1], 150)))
            await one.load_adapter("x", "first", timeout=10)
            assert one.ready and one.ready.adapters["x"].path == "first"
            await until(lambda: two.ready == one.ready)
            old = two.generate([ask("old", [1], 80, adapter="x")])
            tokens = {"old": (await anext(old)).token_ids}
            await one.load_adapter("x", "second", timeout=10)
            new = two.generate([ask("new", [1], 80, adapter="x")])
            tokens["new"] = (await anext(new)).token_ids
            await one.unload_adapter("x", timeout=10)
            assert one.ready.adapters == {}
            with pytest.raises(ValueError, match="no adapter 'x' is loaded"):
                await one.unload_adapter("x", timeout=10)
            with pytest.raises(ValueError, match="broken: is no adapter of this model"):
                await one.load_adapter("x", "broken", timeout=10)
            with pytest.raises(ValueError, match="faulty: RuntimeError: a fault in the reader"):
                await one.load_adapter("x", "faulty", timeout=10)
            assert await base == {"base": continuation([1], 150)}
            for name, stream, weights in (("old", old, "first"), ("new", new, "second")):
                rest = [token async for update in stream for token in update.token_ids]
                assert tokens[name] + rest == continuation([1], 80, weights)
            async with two.generate([ask("late", [1], 3, adapter="x")]) as updates:
                assert [update.error async for update in updates] == ["no adapter 'x' is loaded"]

    asyncio.run(scenario())


def test_an_engine_that_dies_ends_the_wait_for_its_answer(start: Start, address: str) -> None:
    process = start(step_seconds=1.0)

    async def scenario() -> None:
        async with EngineClient(address) as client:
            with pytest.raises(EngineDied, match="not answered"):
                await client.reconfigure({"max_sequences": 4})
            await client.wait_ready(10)
            client.submit([ask("a", [1], 50)])
            await asyncio.sleep(0.1)
            waiting = asyncio.create_task(client.reconfigure({"max_sequences": 4}))
            with pytest.raises(TimeoutError):
                await client.reconfigure({"max_sequences": 4}, timeout=0.01)
            process.end()
            with pytest.raises(EngineDied, match="gone"):
                await asyncio.wait_for(waiting, 10)

    asyncio.run(scenario())


def test_a_client_comes_back_from_what_nobody_foresaw(
    start: Start, address: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    start(step_seconds=0.005)

    class Faulty:
        """Breaks once, as a fault in the client's own code would."""

        broken = False

        def decode(self, payload: bytes) -> protocol.FromEngine:
            message = protocol.FROM_ENGINE.decode(payload)
            if isinstance(message, protocol.Outputs) and not self.broken:
                self.broken = True
                raise RuntimeError("a fault of the client's own")
            return message

    async def scenario() -> None:
        monkeypatch.setattr("appliance.engine.client.FROM_ENGINE", Faulty())
        async with EngineClient(address) as client:
            await client.wait_ready(10)
            with pytest.raises(EngineDied, match="a fault of the client's own"):
                await collect(client, ask("a", [1], 190))
            assert client.ready is None
            await client.wait_ready(10)
            assert await collect(client, ask("a", [1], 5)) == {"a": continuation([1], 5)}
            await until(lambda: client.stats is not None and client.stats.free_slots == 8)

    asyncio.run(scenario())
    assert "a fault of the client's own" in caplog.text
