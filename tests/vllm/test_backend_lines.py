"""Every command line that a plan for backend vllm can hold is taken by vLLM's own parser and, where it runs on a CPU,
makes a whole configuration of the engine."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from vllm_plans import PROFILES, vllm_plan

HERE = Path(__file__).parent
NOT_HERE = {
    "devices",
    "copies-on-devices",
    "nodes",
    "ray",
    "experts",
    "skipped-layers",
    "int8-and-code",
    "options",
    "parsers",
}
"""What vLLM refuses on a CPU or for this model (a parser wants a response_template), whatever the words."""


@pytest.fixture(scope="module")
def verdicts(tiny_model: Callable[..., Path]) -> dict[str, list[str]]:
    """By name: what the parser says, and what building the configuration says."""
    model = tiny_model("qwen3")
    asked = []
    for name in PROFILES:
        plan = vllm_plan(name, model)
        assert plan.vllm is not None
        asked.append([name, plan.vllm.argv()[2:]])
    question = {"asked": asked, "models": {"text": str(model), "vision": str(model), "draft": str(model)}}
    command = [os.environ["APPLIANCE_VLLM"], "-P", str(HERE / "vllm_parser.py")]
    ran = subprocess.run(command, input=json.dumps(question), capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    found: dict[str, list[str]] = json.loads(ran.stdout)
    return found


@pytest.mark.parametrize("name", PROFILES)
def test_is_accepted(name: str, verdicts: dict[str, list[str]]) -> None:
    assert verdicts[name][0] == ""


@pytest.mark.parametrize("name", [name for name in PROFILES if name not in NOT_HERE])
def test_makes_a_configuration(name: str, verdicts: dict[str, list[str]]) -> None:
    assert verdicts[name][1] == ""
