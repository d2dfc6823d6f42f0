"""The command line itself: lazy commands, versions, failures."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import appliance
from appliance.cli.commands import COMMANDS, Command
from appliance.cli.schema import folder
from appliance.diagnostics import ApplianceError, Diagnostic, Position, Severity
from appliance.engine.checkpoint import CheckpointError

Run = Callable[..., Any]
ROOT = Path(__file__).resolve().parents[3]


def test_version(run: Run) -> None:
    assert run("--version").out == f"appliance {appliance.__version__}\n"


def test_help_lists_every_command_without_importing_them(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(COMMANDS, "broken", Command("no_such_module:function", "Never imported."))
    ran = run("--help")
    assert ran.code == 0
    assert all(name in ran.out for name in COMMANDS)
    assert "Never imported." in ran.out


def test_without_a_command_the_help_is_shown(run: Run) -> None:
    ran = run()
    assert "validate" in ran.out + ran.err


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(run: Run, name: str) -> None:
    ran = run(name, "--help")
    assert ran.code == 0
    assert max(map(len, ran.out.splitlines())) <= 80


def test_unknown_command(run: Run) -> None:
    ran = run("validat")
    assert (ran.code, "'validat'" in ran.err) == (2, True)


def fail(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def function() -> None:
        raise error

    monkeypatch.setattr(Command, "load", lambda command: function)


def test_known_failure_shows_its_diagnostics_and_no_traceback(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    finding = Diagnostic(
        "AP0502", Severity.ERROR, Position("p.yaml", 3, 4), "model.source", "no such folder", "name it"
    )
    fail(monkeypatch, ApplianceError([finding], exit_code=2, notes=["Nothing was started."]))
    ran = run("plan")
    assert ran.code == 2
    assert ran.err == "p.yaml:3:4 AP0502 error model.source: no such folder; name it\nNothing was started.\n"


def test_checkpoint_failure(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    fail(monkeypatch, CheckpointError("m.gguf", "cut off at byte 7", "fetch it again"))
    ran = run("plan")
    assert (ran.code, ran.err) == (2, "error: m.gguf: cut off at byte 7; fetch it again\n")


def test_unknown_failure_leaves_its_traceback_in_a_log(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    fail(monkeypatch, RuntimeError("boom"))
    ran = run("plan")
    (log,) = tmp_path.glob("appliance-crash-*.log")
    assert ran.code == 3
    assert ran.err == f"error: the appliance has a defect: RuntimeError; its traceback is in {log}\n"
    assert "RuntimeError: boom" in log.read_text()
    assert log.stat().st_mode & 0o077 == 0


def test_interrupted(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    fail(monkeypatch, KeyboardInterrupt())
    ran = run("plan")
    assert ran.code == 130
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("name", ["profile", "plan"])
def test_schema(run: Run, name: str) -> None:
    assert json.loads(run("schema", name).out)["$schema"]


def test_schema_is_the_profiles_unless_named(run: Run) -> None:
    assert run("schema").out == run("schema", "profile").out


def test_unknown_schema(run: Run) -> None:
    ran = run("schema", "profil")
    assert (ran.code, ran.err) == (2, 'error: no schema is called "profil"; known: profile, plan\n')


def test_schema_write(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("appliance.cli.schema.folder", lambda: tmp_path)
    assert run("schema", "--write").code == 0
    assert (tmp_path / "profile.schema.json").read_text() == (folder() / "profile.schema.json").read_text()


EXAMPLES = sorted(folder().parent.joinpath("profiles").glob("*.yaml"))


@pytest.mark.parametrize("profile", EXAMPLES, ids=lambda profile: profile.stem)
def test_example_profiles_are_fine(run: Run, profile: Path) -> None:
    ran = run("validate", "--offline", "--strict", str(profile))
    assert (ran.code, ran.out) == (0, f"{profile}: fine\n")


@pytest.mark.parametrize("command", [["--version"], ["schema"], ["explain", "AP0101"]])
def test_an_output_that_is_full_is_told_and_is_no_defect(command: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "appliance", *command], stdout=full, stderr=subprocess.PIPE, text=True, cwd=ROOT
        )
    assert ran.stderr == "error: standard output: No space left on device; free some space, or write elsewhere\n"
    assert ran.returncode == 2
