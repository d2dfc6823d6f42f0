"""status, reload, rollback, history, diff and plan --against running, as an operator lives with them."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fake_appliance import FakeAppliance, serve
from waiting import until

from appliance.supervise.history import FILE
from appliance.supervise.status import ApplianceStatus, GitStatus

Cli = Callable[..., Any]


def test_an_edit_is_seen_tried_and_taken_back(cli: Cli, triage: FakeAppliance) -> None:
    assert cli("status", "--exit-code").code == 0
    triage.file.write_text("size: 2\n")
    drifting = cli("status", "--exit-code")
    assert drifting.code == 1 and "changed" in drifting.out
    assert "kv_cache.size  engine  64.0 MiB → 128 MiB" in drifting.out
    assert cli("diff").out.splitlines()[3:] == ["-size: 1", "+size: 2"]
    reloaded = cli("reload", "--note", "more")
    assert reloaded.code == 0
    assert "  validate                  0.02 s" in reloaded.out and "revision 2 applied" in reloaded.out
    assert cli("status", "--exit-code").code == 0
    rolled = cli("rollback")
    assert rolled.code == 0 and "revision 3 applied" in rolled.out
    pinned = cli("status", "--exit-code")
    assert pinned.code == 1 and "pinned" in pinned.out and "held at revision 3" in pinned.out
    assert cli("diff", "1", "3").out == "no difference between revision 1 and revision 3\n"
    assert cli("diff", "1", "2", "--exit-code").code == 1


def test_a_refused_reload_names_the_line_and_ends_with_1(cli: Cli, triage: FakeAppliance) -> None:
    triage.file.write_text("schema: 1\nnmae: invalid\n")
    ran = cli("reload")
    assert ran.code == 1 and "revision 2 invalid" in ran.out and "generation 1 serves" in ran.out
    assert f"{triage.file}:2:1 AP0101 error nmae: is not a field; did you mean name?" in ran.err
    assert "nmae: invalid" in ran.err


def test_a_failed_reload_says_why_and_what_serves(cli: Cli, triage: FakeAppliance) -> None:
    triage.file.write_text("broken: 1\n")
    ran = cli("reload")
    assert ran.code == 1 and "revision 2 failed" in ran.out and "the engine cannot start: no such model" in ran.out
    degraded = cli("status", "--exit-code")
    assert degraded.code == 1 and "degraded" in degraded.out and "revision    1, text" in degraded.out


def test_phases_are_shown_as_they_end(triage: FakeAppliance, states: Path) -> None:
    triage.gate = threading.Event()
    command = [sys.executable, "-m", "appliance", "reload", "--state-dir", str(states / "triage")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "COLUMNS": "80"}) as running:
        assert running.stdout is not None
        assert running.stdout.readline().startswith("  validate ")
        assert running.poll() is None
        triage.gate.set()
        assert "boot" in running.stdout.read()
    assert running.returncode == 0


def test_ctrl_c_leaves_a_reload_to_itself(triage: FakeAppliance, states: Path) -> None:
    triage.gate = threading.Event()
    command = [sys.executable, "-m", "appliance", "reload", "--state-dir", str(states / "triage")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None and running.stderr is not None
        running.stdout.readline()
        running.send_signal(signal.SIGINT)
        assert "it goes on without this command" in running.stderr.read()
    assert running.returncode == 130
    triage.gate.set()
    until(lambda: triage.running is not None and triage.running.number == 2)


def test_history_fits_80_columns_and_shows_one_whole(cli: Cli, triage: FakeAppliance) -> None:
    triage.file.write_text("broken: " + "long " * 60 + "\n")
    cli("reload", "--note", "a note that is far too long for one line of a table " * 3)
    triage.file.write_text("size: 2\n")
    cli("reload", "--note", "a note that is far too long for one line of a table " * 3)
    listed = cli("history").out.splitlines()
    assert max(map(len, listed)) <= 80
    assert [line.split()[:1] for line in listed[1:4]] == [["▶"], ["2"], ["1"]]
    whole = cli("history", "3").out
    for part in ("revision 3  applied", "after       revision 1", "boot        1.25 s", "1 token", "+size: 2"):
        assert part in whole, whole
    assert cli("history", "triage", "3", "--text").out.rstrip().endswith("size: 2")
    assert json.loads(cli("history", "3", "--format", "json").out)["text"] == "size: 2\n"
    assert [r["number"] for r in json.loads(cli("history", "--limit", "2", "--format", "json").out)["revisions"]] == [
        3,
        2,
    ]


def test_status_in_json_has_stable_keys(cli: Cli, triage: FakeAppliance) -> None:
    told = json.loads(cli("status", "--format", "json").out)
    assert tuple(told) == ApplianceStatus.__struct_fields__
    assert (told["schema"], told["state"], told["revision"], told["file"]["state"]) == (1, "ready", 1, "synced")
    assert told["last_reload"]["outcome"] == "applied" and not told["last_reload"]["text"]


@pytest.mark.parametrize(("sync", "code"), [("Synced", 0), ("OutOfSync", 1), ("Invalid", 1), ("Degraded", 1)])
def test_git_counts_for_the_exit_code(cli: Cli, triage: FakeAppliance, sync: str, code: int) -> None:
    triage.gitops = GitStatus(
        state=sync,  # type: ignore[arg-type]
        repo="https://git.example/ops",
        ref="main",
        path="triage.yaml",
        commit="1f2e3d4c5b6a7988",
        author="Ada",
        subject="More room",
    )
    ran = cli("status", "--exit-code")
    assert ran.code == code and f"{sync}: https://git.example/ops, main, triage.yaml" in ran.out
    assert "1f2e3d4c5b6a More room" in ran.out


def test_a_stopped_one_is_read_from_its_folder(cli: Cli, states: Path) -> None:
    with serve(states / "triage", "size: 1\n") as fake:
        fake.file.write_text("broken\n")
        cli("reload")
    before = {path.name: path.read_bytes() for path in (states / "triage").iterdir()}
    assert FILE in before
    ran = cli("status", "--exit-code")
    assert ran.code == 2 and "triage  stopped" in ran.out and "revision 1 (" in ran.out and "failed" in ran.out
    assert "▶" not in cli("history").out
    assert "-size: 1" in cli("diff", "1", "2").out and "+size: 1" in cli("diff", "2", "running").out
    for words in (("reload",), ("rollback",), ("rollback", "1")):
        refused = cli(*words)
        assert refused.code == 2
        assert "AP0902 error no appliance named triage runs" in refused.err and "appliance up FILE" in refused.err
    (states / "triage" / "status.json").write_text(json.dumps({"profile": str(fake.file)}))
    assert "+broken" in cli("diff").out
    (states / "triage" / "status.json").unlink()
    assert {path.name: path.read_bytes() for path in (states / "triage").iterdir()} == before


def test_a_damaged_history_of_a_stopped_one_is_told_and_left_alone(cli: Cli, states: Path) -> None:
    (states / "triage").mkdir(parents=True)
    (states / "triage" / FILE).write_bytes(b"no database at all" * 300)
    for command in ("status", "history"):
        ran = cli(command)
        assert ran.code == 2 and "AP0906" in ran.err and "file is not a database" in ran.err
    assert [path.name for path in (states / "triage").iterdir()] == [FILE]


def test_which_one_is_meant(cli: Cli, states: Path, tmp_path: Path) -> None:
    assert "AP0902 error no appliance runs" in cli("status").err
    assert "AP0902" in cli("status", "triage").err
    with serve(states / "one", "size: 1\n", name="one"), serve(states / "two", "size: 1\n", name="two"):
        listed = cli("status")
        assert [line.split()[:2] for line in listed.out.splitlines()] == [["one", "ready"], ["two", "ready"]]
        several = cli("reload")
        assert several.code == 2 and "AP0903 error 2 appliances run; name one of them: one, two" in several.err
        assert cli("status", "two", "--format", "json").code == 0
        assert cli("history", "two", "1").code == 0
        assert "running now: one, two" in cli("status", "three").err
        (states / "two" / "status.json").write_text(json.dumps({"name": "shop"}))
        for name in ("shop", "two"):
            assert cli("history", name, "1").code == 0, "an edit renamed it; its folder keeps the name of the beginning"
        assert "name one of them: one, shop" in cli("reload").err
    with serve(tmp_path / "elsewhere" / "folder", "size: 1\n"):
        where = ("--state-dir", str(tmp_path / "elsewhere" / "folder"))
        assert "revision    1" in cli("status", *where).out
        mistyped = cli("rollback", "x", *where)
        assert mistyped.code == 2 and "AP0902" in mistyped.err and "not to x" in " ".join(mistyped.err.split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("history", "99"), "AP0904 error there is no revision 99: the newest one is 1"),
        (("history", "running"), "running is not the number of a revision"),
        (("history", "1", "2"), "2 is one too many"),
        (("history", "triage", "other"), "cannot both be the name"),
        (("rollback",), "AP0907 error no other state was applied before revision 1"),
        (("rollback", "file"), "file is not the number of a revision"),
        (("rollback", "99"), "AP0904"),
        (("diff", "1", "2", "3"), "3 is one too many"),
        (("diff", "1", "99"), "AP0904"),
        (("history", "--limit", "0"), "greater than or equal to 1"),
    ],
)
def test_what_cannot_be_asked_is_said_in_one_line(
    cli: Cli, triage: FakeAppliance, words: tuple[str, ...], said: str
) -> None:
    ran = cli(*words)
    assert ran.code == 2 and said in ran.err and "Traceback" not in ran.err


def test_plan_against_running_asks_the_appliance_of_that_name(cli: Cli, triage: FakeAppliance, tmp_path: Path) -> None:
    file = tmp_path / "edited.yaml"
    file.write_text("name: triage\n")
    ran = cli("plan", str(file), "--against", "running")
    assert ran.code == 0 and triage.asked == [("name: triage\n", str(file))]
    assert "limits.body  live  1.00 MiB → 2.00 MiB" in ran.out and "a reload would be live" in ran.out
    assert json.loads(cli("plan", str(file), "--against", "running", "--format", "json").out)["action"] == "live"
    file.write_text("name: triage\ninvalid: 1\n")
    refused = cli("plan", str(file), "--against", "running")
    assert refused.code == 1 and f"{file}:2:1 AP0101" in refused.err
    file.write_text("name: another\n")
    assert "AP0902 error no appliance named another runs" in cli("plan", str(file), "--against", "running").err
    assert "AP0001" in cli("plan", str(tmp_path / "none.yaml"), "--against", "running").err
    assert cli("plan", str(file), "--against", "running", "--hardware", "h100x8").code == 2


def test_a_reload_that_is_not_waited_for(cli: Cli, triage: FakeAppliance) -> None:
    assert "queued" in cli("reload", "--no-wait").out
