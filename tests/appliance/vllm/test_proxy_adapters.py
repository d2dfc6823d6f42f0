"""LoRA adapters of a (fake) vLLM behind our server: they come, change and go while it serves."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from proxied import FakeVllm, Make, Proxy, Vllm, events
from waiting import until

Adapter = Callable[[str, str], str]


@pytest.fixture
def adapter(tmp_path: Path) -> Adapter:
    """`adapter(name, answer)`: its folder, written anew."""

    def write(name: str, answer: str) -> str:
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        (folder / "adapter_config.json").write_text(answer)
        return str(folder)

    return write


def loaded(fake: FakeVllm) -> list[str]:
    """By the name that clients use."""
    return [name.partition("@")[0] for name in fake.ask()["adapters"]]


def test_they_come_and_go(fake: FakeVllm, server: Proxy, adapter: Adapter, tmp_path: Path) -> None:
    missing = server.tell("prepare", config={"adapters": {"gone": str(tmp_path / "gone")}})
    assert "the adapter gone cannot be loaded: no adapter at" in missing["error"]
    server.become(adapters={"polite": adapter("polite", "please")})
    cards = {card["id"]: card["parent"] for card in server.http.get("/v1/models").json()["data"]}
    assert cards == {"tiny": None, "polite": "tiny"}
    answer = server.chat("hi there", model="polite").json()
    assert (answer["model"], answer["choices"][0]["message"]["content"]) == ("polite", "please")
    server.become()
    assert server.chat("hi there", model="polite").status_code == 404
    assert [card["id"] for card in server.http.get("/v1/models").json()["data"]] == ["tiny"]
    until(lambda: loaded(fake) == [], "unloaded")


@pytest.mark.parametrize("words", ["count 3", "pieces 3"])
def test_a_stream_has_the_name_that_was_asked(words: str, server: Proxy, adapter: Adapter) -> None:
    server.become(adapters={"polite": adapter("polite", "please")})
    told = events(server.chat(words, model="polite", stream=True))
    assert [json.loads(event)["model"] for event in told[:-1]] == ["polite"] * 3
    assert told[-1] == "[DONE]"


def test_a_form_asks_for_one_too(vllm: Vllm, proxy: Make, adapter: Adapter) -> None:
    server = proxy(vllm(mode="speech"), adapters={"polite": adapter("polite", "please")}, endpoints={})
    sound = {"file": ("a.wav", b"RIFF", "audio/wav")}
    answer = server.http.post("/v1/audio/transcriptions", files=sound, data={"model": "polite"})
    assert answer.json() == {"text": "please", "model": "polite"}


def test_one_that_changed_in_its_folder_takes_over_with_its_state(
    fake: FakeVllm, server: Proxy, adapter: Adapter
) -> None:
    wanted = {"polite": adapter("polite", "please")}
    server.become(adapters=wanted)
    first = fake.ask()["adapters"]
    server.become(adapters=wanted, queue_requests=7)
    assert fake.ask()["adapters"] == first, "the same one is not loaded twice"
    adapter("polite", "if you please")
    assert server.tell("prepare", config={"adapters": wanted})["error"] is None
    assert server.chat("hi there", model="polite").json()["choices"][0]["message"]["content"] == "please"
    server.tell("switch")
    assert server.chat("hi there", model="polite").json()["choices"][0]["message"]["content"] == "if you please"
    until(lambda: loaded(fake) == ["polite"], "the old one is unloaded")
    assert fake.ask()["adapters"] != first


@pytest.mark.parametrize("ends", ["it fails its proof", "it is discarded"])
def test_a_dropped_candidate_leaves_the_adapter_that_serves(
    ends: str, fake: FakeVllm, server: Proxy, adapter: Adapter, tmp_path: Path
) -> None:
    wanted = {"polite": adapter("polite", "please")}
    server.become(adapters=wanted)
    before = fake.ask()["adapters"]
    adapter("polite", "if you please")
    more = {"terse": adapter("terse", "no")}
    more |= {"gone": str(tmp_path / "gone")} if ends == "it fails its proof" else {}
    prepared = server.tell("prepare", config={"adapters": wanted | more})
    assert bool(prepared["error"]) == (ends == "it fails its proof")
    assert len(fake.ask()["adapters"]) == 3 or prepared["error"]
    server.tell("discard")
    until(lambda: fake.ask()["adapters"] == before, "what the candidate brought is gone, and nothing else")
    answer = server.chat("hi there", model="polite").json()
    assert answer["choices"][0]["message"]["content"] == "please"
    assert server.chat("hi there", model="terse").status_code == 404


def test_one_that_comes_back_before_its_last_state_went_stays(server: Proxy, adapter: Adapter) -> None:
    wanted = {"polite": adapter("polite", "please")}
    server.become(adapters=wanted)
    body = {"model": "polite", "messages": [{"role": "user", "content": "count 20"}], "stream": True}
    with server.http.stream("POST", "/v1/chat/completions", json=body) as running:
        lines = running.iter_lines()
        next(lines)
        server.become()
        server.become(adapters=wanted)
        assert [line for line in lines if line][-1] == "data: [DONE]"
    assert server.chat("hi there", model="polite").json()["choices"][0]["message"]["content"] == "please"


def test_they_are_back_after_a_death(vllm: Vllm, proxy: Make, adapter: Adapter) -> None:
    fake = vllm()
    server = proxy(fake, adapters={"polite": adapter("polite", "please")})
    assert loaded(fake) == ["polite"]
    fake.stop()
    until(lambda: server.http.get("/ready").status_code == 503, "not ready")
    fake.start()
    server.wait_ready()
    assert loaded(fake) == ["polite"]
