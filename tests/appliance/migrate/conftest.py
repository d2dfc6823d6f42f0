from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from appliance.cli.app import main
from appliance.cli.snippet import lines_of


@dataclass
class Ran:
    code: int
    out: str
    err: str


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Ran]:
    """Runs a command in an empty folder of its own, as a shell would see it."""
    monkeypatch.chdir(tmp_path)

    def command(*words: str) -> Ran:
        lines_of.cache_clear()
        with pytest.raises(SystemExit) as ended:
            main(words)
        said = capsys.readouterr()
        return Ran(int(ended.value.code or 0), said.out, said.err)

    return command


COMPOSE = """\
# my server
services:
  chat:
    image: vllm/vllm-openai:v0.6.3
    ports: ["8000:8000"]
    environment:
      - VLLM_ATTENTION_BACKEND=FLASHINFER   # faster here
      - HF_TOKEN=hf_abcdefghijklmnop
    command: >
      --model Qwen/Qwen2-7B-Instruct
      --swap-space 16
      --max-model-len ${LEN:-8192}
      --guided-decoding-backend outlines
      --logits-processor-pattern x.*
      --api-key sk-live-abcdefgh

"""


@pytest.fixture
def compose(tmp_path: Path) -> Path:
    """What somebody wrote in 2024."""
    path = tmp_path / "compose.yaml"
    path.write_text(COMPOSE, encoding="utf-8", newline="")
    return path
