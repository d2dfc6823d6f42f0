"""LoRA adapters of a running appliance: an edit brings them and takes them away, while the model answers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from lora_files import write_adapter
from running import Running

PROFILE = """
schema: 1
name: tuned
release: "0.32"
model:
  source: {model}
  dtype: float32
  max_context: 256
{adapters}
kv_cache: {{size: 4MiB}}
security: {{bind: "127.0.0.1:0"}}
"""


class Tuned:
    """A profile, and the adapters that stand in it."""

    def __init__(self, folder: Path, model: Path) -> None:
        self.folder, self.model = folder, model

    def text(self, **adapters: Path | str) -> str:
        lines = [f"    - {{name: {name}, source: {source}}}" for name, source in adapters.items()]
        return PROFILE.format(model=self.model, adapters="\n".join(["  adapters:", *lines] if lines else []))


def answers(up: Running, model: str) -> dict[str, Any]:
    body = {"model": model, "prompt": "river mountain", "max_tokens": 12, "temperature": 0}
    answer = httpx.post(f"{up.base_url}/v1/completions", json=body, timeout=30)
    return {"status": answer.status_code, **answer.json()}


def text_of(up: Running, model: str) -> str:
    answer = answers(up, model)
    assert answer["status"] == 200 and answer["model"] == model, answer
    return str(answer["choices"][0]["text"])


def models(up: Running) -> dict[str, str | None]:
    cards = httpx.get(f"{up.base_url}/v1/models", timeout=30).json()["data"]
    return {card["id"]: card["parent"] for card in cards}


def edit(up: Running, folder: Path, text: str, outcome: str = "applied") -> str:
    """What the appliance said about it."""
    seen = len(up.lines)
    (folder / "profile.yaml").write_text(text)
    up.wait_until(
        lambda: any(
            line.startswith("revision") and any(end in line for end in outcome.split("|")) for line in up.lines[seen:]
        )
    )
    return "\n".join(up.lines[seen:])


@pytest.fixture
def tuned(tmp_path: Path, tiny_model: Callable[..., Path]) -> Tuned:
    return Tuned(tmp_path, tiny_model("llama"))


def test_adapters_come_and_go_with_the_profile(
    tuned: Tuned, appliance_up: Callable[..., Running], tmp_path: Path
) -> None:
    one = write_adapter(tmp_path / "one", tuned.model, strength=1.0)
    two = write_adapter(tmp_path / "two", tuned.model, strength=1.0, seed=9)
    up = appliance_up(tuned.text(first="one"))
    base, first = text_of(up, "tuned"), text_of(up, "first")
    assert models(up) == {"tuned": None, "first": "tuned"}

    said = edit(up, tmp_path, tuned.text(first=one, second=two))
    assert "live: no engine is touched" in said
    assert models(up) == {"tuned": None, "first": "tuned", "second": "tuned"}
    second = text_of(up, "second")
    assert len({base, first, second}) == 3
    assert (text_of(up, "tuned"), text_of(up, "first")) == (base, first)

    with httpx.stream(
        "POST",
        f"{up.base_url}/v1/completions",
        json={"model": "first", "prompt": "river", "max_tokens": 200, "stream": True, "ignore_eos": True},
        timeout=60,
    ) as stream:
        chunks = stream.iter_lines()
        next(chunks)
        edit(up, tmp_path, tuned.text(first=two))
        assert list(chunks)[-2:] == ["data: [DONE]", ""], "the stream went on with the weights it began with"
    assert models(up) == {"tuned": None, "first": "tuned"}
    assert (text_of(up, "tuned"), text_of(up, "first")) == (base, second)
    gone = answers(up, "second")
    assert gone["status"] == 404 and "this server has: tuned, first" in gone["error"]["message"]

    edit(up, tmp_path, tuned.text())
    assert models(up) == {"tuned": None} and answers(up, "first")["status"] == 404
    assert text_of(up, "tuned") == base


def test_an_adapter_written_anew_in_its_folder_is_taken_over(
    tuned: Tuned, appliance_up: Callable[..., Running], tmp_path: Path
) -> None:
    folder = write_adapter(tmp_path / "one", tuned.model, strength=1.0)
    up = appliance_up(tuned.text(first="one"))
    first = text_of(up, "first")
    seen = len(up.lines)
    write_adapter(tmp_path / "new", tuned.model, strength=1.0, seed=9)
    (tmp_path / "new/adapter_model.safetensors").replace(folder / "adapter_model.safetensors")
    up.wait_until(lambda: any("revision 2: applied" in line for line in up.lines[seen:]))
    assert any("model.adapters.first: the file's content" in line for line in up.lines[seen:])
    assert text_of(up, "first") != first


def test_an_adapter_that_cannot_be_loaded_changes_nothing(
    tuned: Tuned, appliance_up: Callable[..., Running], tmp_path: Path, tiny_model: Callable[..., Path]
) -> None:
    write_adapter(tmp_path / "one", tuned.model, strength=1.0)
    write_adapter(tmp_path / "other", tiny_model("llama", num_hidden_layers=4))
    write_adapter(tmp_path / "dora", tuned.model, use_dora=True)
    up = appliance_up(tuned.text(first="one"))
    first = text_of(up, "first")
    for name, says in (
        ("other", "belongs to another model"),
        ("dora", "use_dora is True, which is not supported"),
        ("nowhere", "no folder"),
    ):
        said = edit(up, tmp_path, tuned.text(first="one", more=name), "what ran runs on")
        assert says in said
        assert models(up) == {"tuned": None, "first": "tuned"}
        assert text_of(up, "first") == first


def test_an_engine_that_is_killed_gets_its_adapters_back(
    tuned: Tuned, appliance_up: Callable[..., Running], tmp_path: Path
) -> None:
    write_adapter(tmp_path / "one", tuned.model, strength=1.0)
    up = appliance_up(tuned.text(first="one"))
    first = text_of(up, "first")
    (engine,) = [
        child
        for child in psutil.Process(up.process.pid).children(recursive=True)
        if "appliance.engine.main" in child.cmdline()
    ]
    engine.kill()
    up.wait_until(lambda: answers(up, "first")["status"] == 200 if not engine.is_running() else False)
    assert text_of(up, "first") == first
    body = {"state": "a river", "questions": {"q": {"type": "noul"}}}
    told = [
        httpx.post(f"{up.base_url}/v1/systemone", json=body | {"model": model}, timeout=30).json()
        for model in ("tuned", "first")
    ]
    assert [answer["model"] for answer in told] == ["tuned", "first"]
    assert told[0]["answers"] != told[1]["answers"]
