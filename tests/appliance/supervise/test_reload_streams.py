"""Streams of real engines and servers while the profile is edited: none is cut, and none says anything else."""

import json
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from faked import Faked, faked

LONG = {"prompt": "yes the order", "temperature": 0, "ignore_eos": True, "stream": True}


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory, tiny_model: Callable[..., Path]) -> Iterator[Faked]:
    folder = tmp_path_factory.mktemp("streams")
    settings = {"model": str(tiny_model("qwen3")), "pool": "64MiB"}
    environment = {"FAKE_CHILDREN": "no", "FAKE_SETTLE": "0.05"}
    with faked(folder, environment=environment, **settings) as made:
        yield made


@pytest.fixture
def edit(up: Faked, tiny_model: Callable[..., Path]) -> Callable[..., str]:
    base = {"model": str(tiny_model("qwen3")), "pool": "64MiB"}
    return lambda **settings: up.edit(**base | settings)


class Stream(threading.Thread):
    """One completion, chunk by chunk, from the moment its first chunk is there."""

    def __init__(self, up: Faked, tokens: int = 900) -> None:
        super().__init__()
        self.url, self.text, self.reason = up.up.base_url, "", ""
        self.body = LONG | {"max_tokens": tokens}
        self.first = threading.Event()
        self.start()
        assert self.first.wait(60)

    def run(self) -> None:
        with httpx.stream("POST", f"{self.url}/v1/completions", json=self.body, timeout=120) as answer:
            assert answer.status_code == 200, answer.read()
            for line in answer.iter_lines():
                if line.startswith("data: {"):
                    for choice in json.loads(line[6:])["choices"]:
                        self.text += choice["text"]
                        self.reason = choice["finish_reason"] or self.reason
                    self.first.set()

    def end(self) -> str:
        self.join(120)
        assert self.reason == "length", (self.reason, len(self.text))
        return self.text


@pytest.fixture(scope="module")
def undisturbed(up: Faked) -> str:
    return Stream(up).end()


def test_a_live_edit_is_visible_to_the_next_request(up: Faked, edit: Callable[..., str], undisturbed: str) -> None:
    running = Stream(up)
    assert "applied" in edit(names="other")
    models = httpx.get(f"{up.up.base_url}/v1/models").json()
    assert [model["id"] for model in models["data"]] == ["other"]
    assert running.end() == undisturbed


def test_a_running_engine_takes_new_settings(up: Faked, edit: Callable[..., str], undisturbed: str) -> None:
    before = up.up.output.count("load weights")
    running = Stream(up)
    assert "applied" in edit(more="engine: {batching: {max_sequences: 16}}")
    assert running.end() == undisturbed
    assert up.up.output.count("load weights") == before


@pytest.mark.parametrize("strategy", ["surge", "drain"])
def test_a_stream_goes_on_on_the_next_engine(
    up: Faked, edit: Callable[..., str], undisturbed: str, strategy: str
) -> None:
    carried = re.compile(r"[1-9]\d* carried over")
    before = len(carried.findall(up.up.output))
    texts: list[str] = []
    over = threading.Event()

    def chat(tokens: int) -> None:
        while not over.is_set():
            texts.append(Stream(up, tokens).end())

    # of different lengths, so that they do not end together, just when the engines change
    clients = [threading.Thread(target=chat, args=(tokens,)) for tokens in (900, 761, 640)]
    for client in clients:
        client.start()
    first = Stream(up)
    pool = {"surge": "48MiB", "drain": "56MiB"}[strategy]
    assert "applied" in edit(strategy=strategy, drain="0s", pool=pool)
    over.set()
    for client in clients:
        client.join()
    assert first.end() == undisturbed
    assert texts and all(undisturbed.startswith(text) for text in texts)
    up.up.wait_until(lambda: len(carried.findall(up.up.output)) > before)


def test_an_engine_that_cannot_load_its_model(
    up: Faked, edit: Callable[..., str], undisturbed: str, tiny_model: Callable[..., Path], tmp_path: Path
) -> None:
    for source in tiny_model("qwen3").iterdir():
        content = source.read_bytes()
        zeros = content[:-4096] + b"\xff" * 4096 if source.suffix == ".safetensors" else content
        (tmp_path / source.name).write_bytes(zeros)
    (tmp_path / "tokenizer.json").write_text("{}")
    running = Stream(up)
    assert "failed and was undone" in edit(model=str(tmp_path))
    assert running.end() == undisturbed
    assert Stream(up).end() == undisturbed
