"""Each file in cases/ is a profile, a line of dashes, and the diagnostics it gets offline, one per line."""

from pathlib import Path

import pytest

from appliance.validate import validate

CASES = sorted(Path(__file__).parent.joinpath("cases").glob("*.case"))
ENVIRON = {"SET": "triage", "EMPTY": "", "WORD": "no", "SECRET": "sk-from-the-environment"}


def diagnostics(text: str, folder: Path) -> list[str]:
    profile = folder / "profile.yaml"
    profile.write_text(text, encoding="utf-8", newline="")
    found = validate(profile, offline=True, environ=ENVIRON).diagnostics
    return [
        str(diagnostic).replace(str(profile), "profile.yaml").replace(str(folder), "FOLDER") for diagnostic in found
    ]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_case(case: Path, tmp_path: Path) -> None:
    text, _, expected = case.read_text(encoding="utf-8").partition("\n-----\n")
    assert "\n".join(diagnostics(text + "\n", tmp_path)) == expected.strip()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_every_diagnostic_has_position_fact_and_way_out(case: Path, tmp_path: Path) -> None:
    text = case.read_text(encoding="utf-8").partition("\n-----\n")[0]
    (tmp_path / "profile.yaml").write_text(text + "\n", encoding="utf-8")
    for found in validate(tmp_path / "profile.yaml", offline=True, environ=ENVIRON).diagnostics:
        assert found.position.line or found.code == "AP0007"
        assert found.message and found.fix
        assert not found.fix.endswith(".")


def test_there_is_a_case_for_every_code_that_needs_no_machine() -> None:
    from appliance.codes import group

    shown = "\n".join(case.read_text(encoding="utf-8").partition("\n-----\n")[2] for case in CASES)
    codes = {*group("AP00"), *group("AP01"), *group("AP02")}
    in_other_tests = {"AP0001", "AP0002", "AP0003", "AP0006", "AP0220", "AP0230"}
    no_format_yet = {"AP0210", "AP0211"}
    assert {code for code in codes if code not in shown} == in_other_tests | no_format_yet
