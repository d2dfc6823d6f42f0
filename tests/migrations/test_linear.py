"""Work grows with the text, not with its square: steps of the interpreter are counted, so no clock decides."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from appliance.migrate import Found, Wanted, migrate_file
from appliance.migrations.release import Release

WANTED = Wanted(Release(0, 32))
ENGINE = """\
  - name: m%d
    repository: vllm/vllm-openai
    tag: v0.8.5
    modelURL: org/model-%d
    vllmConfig: {maxModelLen: 8192, extraArgs: ["--swap-space", "4"]}
    env: [{name: VLLM_USE_V1, value: "1"}]
"""
CONTAINER = """\
      - {image: "vllm/vllm-openai:v0.8.5", args: ["--model=m%d", "--task=embed"], envFrom: [{configMapRef: {name: c}}]}
"""


def options(count: int) -> str:
    return "vllm serve m " + " ".join(f"--hf-overrides.k{i} {i} --swap-space {i}" for i in range(count)) + "\n"


def words(count: int) -> str:
    return "vllm serve m " + " ".join(f"extra{i}" for i in range(count)) + " --swap-space 4\n"


def moved(count: int) -> str:
    return "vllm serve m " + " ".join(f"--rope-scaling.k{i}={i}" for i in range(count)) + "\n"


def keys(count: int) -> str:
    value = {f"k{i}": i for i in range(count)} | {"rope_scaling": {"type": "yarn"}}
    return f"vllm serve m --hf-overrides '{json.dumps(value)}'\n"


def settings(count: int) -> str:
    return "".join(f"VLLM_ATTENTION_BACKEND=FLASHINFER # {i}\n" for i in range(count))


def commands(count: int) -> str:
    return "export VLLM_USE_V1=1\n" + "".join(f"vllm serve m{i} --swap-space 4\n" for i in range(count))


def engines(count: int) -> str:
    return "servingEngineSpec:\n  modelSpec:\n" + "".join(ENGINE % (i, i) for i in range(count))


def containers(count: int) -> str:
    head = "apiVersion: apps/v1\nkind: Deployment\nspec:\n  template:\n    spec:\n      containers:\n"
    return head + "".join(CONTAINER % i for i in range(count))


def steps(path: Path) -> int:
    """Lines and calls that the interpreter goes through."""
    count = 0

    def trace(frame: Any, event: str, argument: Any) -> Any:
        nonlocal count
        count += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        result = migrate_file(Found(str(path), True), WANTED)
    finally:
        sys.settrace(before)
    assert result.problem is None and result.outcomes
    return count


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (options, "a.sh"),
        (words, "a.sh"),
        (moved, "a.sh"),
        (keys, "a.sh"),
        (commands, "a.sh"),
        (settings, "a.env"),
        (engines, "values.yaml"),
        (containers, "pods.yaml"),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_twice_the_text_is_twice_the_work(make: Callable[[int], str], name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(make(2))
    steps(path)  # what is read and kept only once
    counted = []
    for count in (60, 120, 240):
        path.write_text(make(count))
        counted.append(steps(path))
    first, second, third = counted
    assert third - second < 2.5 * (second - first), counted
