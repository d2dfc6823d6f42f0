from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def run(command: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Any]:
    """Runs a command in an empty folder of its own."""
    monkeypatch.chdir(tmp_path)
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
