"""Every example profile plans on the machine it is written for."""

from pathlib import Path

import pytest
from checkpoint_shapes import make_checkpoint
from plan_inputs import machine

from appliance.plan import make_plan
from appliance.validate import validate

PROFILES = Path(__file__).resolve().parents[3] / "profiles"
QWEN3 = ("qwen3-0.6b", "BF16", "cpu-16c-64g")
SHAPES = {
    **dict.fromkeys(("adapters", "cpu-server", "team-server", "vllm-cpu"), QWEN3),
    "laptop": ("smollm2-135m", "F32", "laptop-avx2-16g"),
}
OTHERWISE = ("smollm2-135m", "Q4_1", "cloud-2c-24g")


@pytest.mark.parametrize("path", sorted(PROFILES.glob("*.yaml")), ids=lambda path: path.stem)
def test_plans(path: Path) -> None:
    name, stored, place = SHAPES.get(path.stem, OTHERWISE)
    checked = validate(path, offline=True, environ={})
    assert checked.profile is not None and not checked.errors
    plan = make_plan(checked.profile, machine(place), make_checkpoint(name, stored), position=checked.position)
    assert plan.memory.full_sequences >= 1
    assert plan.machine.platform == "cpu"
    assert (plan.vllm is not None, plan.engine is not None) == (path.stem == "vllm-cpu", path.stem != "vllm-cpu")
