"""What a file says against what runs, field by field, and what a reload of it would be."""

from collections.abc import Callable
from pathlib import Path

import pytest
from bare_model import bare_model

from appliance.plan import MACHINES
from appliance.source.silent import Silent
from appliance.supervise.admin_protocol import Text
from appliance.supervise.history_records import Pin, text_hash
from appliance.supervise.road import Candidate, Road
from appliance.supervise.status import ApplianceStatus, FileStatus, GitStatus
from appliance.supervise.status_file import file_status

TEXT = """\
schema: 1
name: tiny
release: "0.32"
model: {source: MODEL}
kv_cache: {size: 8MiB}
engine: {batching: {max_sequences: 8}}
security: {bind: "127.0.0.1:0", api_keys: [{file: KEY}]}
"""
Look = Callable[..., FileStatus]


@pytest.fixture
def look(tmp_path: Path) -> Look:
    """`look(before, after)`: the status of the file after one replacement in the text that runs."""
    bare_model(tmp_path / "model")
    (tmp_path / "key").write_text("first-key")
    file = tmp_path / "tiny.yaml"
    text = TEXT.replace("MODEL", str(tmp_path / "model")).replace("KEY", str(tmp_path / "key"))
    file.write_text(text)
    road = Road(file, MACHINES["cpu-16c-64g"], Silent())
    running: Candidate = road.plan(road.check())

    def edited(
        before: str = "",
        after: str = "",
        pin: Pin | None = None,
        kept: str | None = None,
        gone: bool = False,
        above: str = "",
    ) -> FileStatus:
        assert before in text
        file.write_text(text.replace(before, after) if before else text)
        if gone:
            file.unlink()
        commit = Text(name="p.yaml at 1f2e3d4", text=kept) if kept else None
        return file_status(road, running, pin, commit, frozenset({above}))

    return edited


def test_the_same_plan_is_in_sync_whatever_its_text(look: Look) -> None:
    assert look().state == "synced"
    remarked = look("name: tiny\n", "name: tiny  # ours\n")
    assert remarked.state == "synced" and remarked.hash != look().hash


@pytest.mark.parametrize(
    ("before", "after", "path", "reload"),
    [
        ("kv_cache:", "limits: {body: 2MiB}\nkv_cache:", "limits.body", "live"),
        ("max_sequences: 8", "max_sequences: 4", "engine.batching.max_sequences", "reconfigure"),
        ("8MiB", "4MiB", "kv_cache.size", "engine"),
        ("127.0.0.1:0", "127.0.0.1:1", "security.bind", "listener"),
    ],
)
def test_each_change_is_named_with_what_it_takes(look: Look, before: str, after: str, path: str, reload: str) -> None:
    told = look(before, after)
    (change,) = told.drift
    assert (told.state, change.path, change.reload) == ("changed", path, reload)
    assert change.before != change.after and change.why


def test_a_field_of_the_engine_beside_one_that_needs_a_new_one_keeps_its_own_reason(look: Look) -> None:
    told = look("kv_cache: {size: 8MiB}\nengine: {batching: {max_sequences: 8}}", "kv_cache: {size: 4MiB}")
    found = {change.path: change for change in told.drift}
    assert found["kv_cache.size"].reload == "engine" and "num_blocks" in found["kv_cache.size"].why
    assert found["engine.batching.max_sequences"].reload == "reconfigure"


def test_what_the_command_line_decides_is_no_drift(look: Look) -> None:
    assert look("127.0.0.1:0", "127.0.0.1:1", above="security.bind").state == "synced"
    told = look("8MiB}", "4MiB}", above="security.bind")
    assert [change.path for change in told.drift] == ["kv_cache.size"]


def test_a_secret_that_changes_under_its_name_is_drift_and_never_shown(look: Look, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("second-key")
    told = look()
    assert [change.path for change in told.drift] == ["security.api_keys[0].file"]
    assert "key-" not in str(told) and "second-key" not in str(told)


def test_what_was_rolled_back_from_is_held(look: Look) -> None:
    away = look("8MiB", "4MiB").hash
    assert look("8MiB", "4MiB", pin=Pin(revision=3, away=away)).state == "pinned"
    assert look("8MiB", "2MiB", pin=Pin(revision=3, away=away)).state == "changed"


def test_a_text_that_cannot_run_says_where_and_why(look: Look, tmp_path: Path) -> None:
    invalid = look("kv_cache: {size: 8MiB}", "kv_cache: {sise: 8MiB}")
    assert invalid.state == "invalid" and invalid.error.startswith("5:12 AP0101 error kv_cache.sise")
    assert invalid.hash and not invalid.drift
    elsewhere = look(str(tmp_path / "model"), "hf:nobody/nothing")
    assert elsewhere.state == "changed" and "AP0507" in elsewhere.error
    huge = look("8MiB", "80GiB")
    assert huge.state == "changed" and "kv_cache.size" in huge.error


def test_a_file_that_is_gone_is_missing(look: Look) -> None:
    told = look(gone=True)
    assert (told.state, told.hash) == ("missing", "") and "AP0001" in told.error


def test_the_text_of_a_commit_stands_in_for_the_file(look: Look) -> None:
    told = look(kept="schema: 1\nnmae: x\n")
    assert (told.state, told.path) == ("invalid", "p.yaml at 1f2e3d4") and told.error.startswith("1:1 AP0102")
    assert look().state == "synced" and look(kept="x").hash == text_hash("x")


SYNCED = FileStatus(path="p", state="synced")
GIT = GitStatus(state="Synced", repo="r", ref="main", path="p")


@pytest.mark.parametrize(
    ("told", "code"),
    [
        (ApplianceStatus(name="a", state="ready", file=SYNCED), 0),
        (ApplianceStatus(name="a", state="ready", file=SYNCED, gitops=GIT), 0),
        (ApplianceStatus(name="a", state="degraded", file=SYNCED), 1),
        (ApplianceStatus(name="a", state="starting", file=SYNCED), 1),
        (ApplianceStatus(name="a", state="draining", file=SYNCED), 1),
        (ApplianceStatus(name="a", state="ready", file=FileStatus(path="p", state="pinned")), 1),
        (ApplianceStatus(name="a", state="stopped"), 2),
    ],
)
def test_the_exit_code_of_a_status(told: ApplianceStatus, code: int) -> None:
    assert told.exit_code == code
