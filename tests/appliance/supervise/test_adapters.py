"""LoRA adapters of a running appliance: an edit brings them and takes them away, while the model answers."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
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


def edit(up: Running, folder: Path, text: str, ends: str = "serves|applied") -> None:
    seen = len(up.lines)
    (folder / "profile.yaml").write_text(text)
    up.wait_until(lambda: any(ends_with(line, ends) for line in up.lines[seen:]))


def ends_with(line: str, ends: str) -> bool:
    return any(end in line for end in ends.split("|"))


@pytest.fixture
def tuned(tmp_path: Path, tiny_model: Callable[..., Path]) -> Tuned:
    return Tuned(tmp_path, tiny_model("llama"))


def test_adapters_come_and_go_with_the_profile(
    tuned: Tuned, appliance_up: Callable[..., Running], tmp_path: Path
) -> None:
    one = write_adapter(tmp_path / "one", tuned.model, strength=1.0)
    two = write_adapter(tmp_path / "two", tuned.model, strength=1.0, seed=9)
    up = appliance_up(tuned.text(first=one))
    print(up.output)
    base, first = text_of(up, "tuned"), text_of(up, "first")
    assert base != first and models(up) == {"tuned": None, "first": "tuned"}
    print([p for p in tmp_path.iterdir()])
    edit(up, tmp_path, tuned.text(first=one, second=two))
    print(up.output)
    assert models(up) == {"tuned": None, "first": "tuned", "second": "tuned"}
    second = text_of(up, "second")
    assert len({base, first, second}) == 3
    assert (text_of(up, "tuned"), text_of(up, "first")) == (base, first)
