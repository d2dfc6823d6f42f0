from collections.abc import Callable
from pathlib import Path

import pytest
from render_inputs import Make, make_subject


@pytest.fixture
def make(tmp_path: Path, tiny_model: Callable[..., Path]) -> Make:
    return lambda text, **options: make_subject(tmp_path, text, tiny_model("qwen3"), **options)
