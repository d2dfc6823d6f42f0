"""Each file in cases/ is one plan: profile, machine, checkpoint, and what must come of them."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from checkpoint_shapes import make_checkpoint
from plan_inputs import machine, make_profile, tuples

from appliance.diagnostics import ApplianceError, Position
from appliance.plan import make_plan

HERE = Path(__file__).parent
CASES = sorted(path.stem for path in (HERE / "cases").glob("*.yaml"))


def load(name: str) -> dict[str, Any]:
    case: dict[str, Any] = yaml.safe_load((HERE / "cases" / f"{name}.yaml").read_text())
    return case


@pytest.mark.parametrize("name", CASES)
def test_case(name: str) -> None:
    case = load(name)

    def plan() -> Any:
        hardware, checkpoint = machine(case["hardware"]), make_checkpoint(**case["checkpoint"])
        return make_plan(
            make_profile(case["profile"]),
            hardware,
            checkpoint,
            position=lambda path: Position("p.yaml", 3, 5),
            forecast=True,
        )

    if "error" in case:
        with pytest.raises(ApplianceError) as caught:
            plan()
        (found,) = caught.value.diagnostics
        assert (found.code, found.path, str(found.position)) == (
            case["error"]["code"],
            case["error"]["path"],
            "p.yaml:3:5",
        )
        for part in case["error"]["says"]:
            assert part in str(found)
        assert found.fix
        return
    made = plan()
    values = {value.path: [value.value, value.reason] for value in made.values}
    assert {path: values[path] for path in case.get("values", {})} == case.get("values", {})
    for part in ("engine", "server"):
        settings = {key: getattr(getattr(made, part), key) for key in case.get(part, {})}
        assert settings == tuples(case.get(part, {}))
    assert len(made.notes) == len(case.get("notes", []))
    assert all(wanted in seen for wanted, seen in zip(case.get("notes", []), made.notes, strict=True))


def test_every_plan_code_has_a_page_and_a_case() -> None:
    from appliance.codes.plan import CODES

    refused = {load(name)["error"]["code"] for name in CASES if "error" in load(name)}
    assert refused == set(CODES) - {"AP0410", "AP0411"}
