"""The commands against a real `appliance up`: engine, server, history and socket are what an operator has."""

import json
import os
import resource
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from running import Running, boot
from waiting import until

Cli = Callable[..., Any]
PROFILE = """\
schema: 1
name: tiny
release: "0.32"
model:
  source: {model}
kv_cache:
  size: 64MiB
engine:
  batching: {{max_sequences: 8}}
reload:
  watch: false
  drain: 20s
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("live")


@pytest.fixture(scope="module")
def profile(tiny_model: Callable[..., Path]) -> str:
    return PROFILE.format(model=tiny_model("qwen3"))


@pytest.fixture(scope="module")
def up(profile: str, folder: Path) -> Iterator[Running]:
    with boot(profile, folder) as running:
        running.wait_for("ready in")
        yield running


@pytest.fixture
def ask(cli: Cli, up: Running, folder: Path, profile: str) -> Iterator[Cli]:
    """A command to it; the profile stands and runs as at first when a test begins."""
    (folder / "profile.yaml").write_text(profile)
    assert cli("reload", "--state-dir", str(folder / "state")).code == 0
    until(lambda: cli("status", "--exit-code", "--state-dir", str(folder / "state")).code == 0)
    yield lambda *words: cli(*words, "--state-dir", str(folder / "state"))


def edit(folder: Path, before: str, after: str) -> None:
    file = folder / "profile.yaml"
    text = file.read_text()
    assert before in text
    file.write_text(text.replace(before, after))


def test_reload_and_rollback_by_command(ask: Cli, folder: Path) -> None:
    before = json.loads(ask("status", "--format", "json").out)
    edit(folder, "max_sequences: 8", "max_sequences: 4")
    drifting = json.loads(ask("status", "--format", "json").out)
    assert drifting["file"]["state"] == "changed" and drifting["revision"] == before["revision"]
    (drift, *_) = drifting["file"]["drift"]
    assert (drift["path"], drift["before"], drift["after"]) == ("engine.batching.max_sequences", 8, 4)
    assert drift["reload"] == "reconfigure"
    planned = ask("plan", str(folder / "profile.yaml"), "--against", "running")
    assert planned.code == 0 and "a reload would be reconfigure" in planned.out
    reloaded = ask("reload", "--note", "fewer at once")
    assert reloaded.code == 0 and "applied" in reloaded.out and "  proof " in reloaded.out
    after = json.loads(ask("status", "--format", "json").out)
    assert after["revision"] > before["revision"] and after["file"]["state"] == "synced"
    assert after["generation"] == before["generation"] and after["last_reload"]["action"] == "reconfigure"
    assert ask("rollback").code == 0
    back = json.loads(ask("status", "--format", "json").out)
    assert (back["hash"], back["file"]["state"]) == (before["hash"], "pinned")
    assert ask("status", "--exit-code").code == 1
    shown = json.loads(ask("history", str(after["revision"]), "--format", "json").out)
    assert shown["note"] == "fewer at once" and "engine.batching.max_sequences: 8 -> 4" in shown["changes"]
    assert shown["proof"] and shown["outcome"] == "applied"


def test_processes_are_those_that_run(ask: Cli, up: Running) -> None:
    told = json.loads(ask("status", "--format", "json").out)
    assert told["pid"] == up.process.pid and told["url"] == up.base_url
    engine = next(process for process in told["processes"] if process["role"] == "engine")
    assert engine["memory_bytes"] > 50 << 20
    os.kill(engine["pid"], signal.SIGKILL)

    def replaced() -> bool:
        now = json.loads(ask("status", "--format", "json").out)
        found = next(process for process in now["processes"] if process["role"] == "engine")
        return found["restarts"] > engine["restarts"] and found["state"] == "ready" and now["state"] == "ready"

    until(replaced, seconds=60.0)


def test_an_invalid_edit_is_refused_and_said_until_it_is_mended(ask: Cli, folder: Path, up: Running) -> None:
    edit(folder, "drain: 20s", "drian: 20s")
    refused = ask("reload")
    assert refused.code == 1 and "invalid" in refused.out and 'did you mean "drain"?' in refused.err
    told = ask("status", "--exit-code")
    assert told.code == 1 and "degraded" in told.out and "invalid" in told.out
    assert httpx.get(f"{up.base_url}/ready", timeout=20).status_code == 200
    edit(folder, "drian: 20s", "drain: 20s")
    assert ask("reload").code == 0 and ask("status", "--exit-code").code == 0


def test_a_full_disk_does_not_keep_it_from_serving_and_reloading(ask: Cli, folder: Path, up: Running) -> None:
    unlimited = resource.RLIM_INFINITY
    resource.prlimit(up.process.pid, resource.RLIMIT_FSIZE, (0, unlimited))
    edit(folder, "drain: 20s", "drain: 21s")
    assert ask("reload").code == 0
    told = json.loads(ask("status", "--format", "json").out)
    assert told["state"] == "degraded" and told["history"]["state"] == "unwritable"
    assert told["history"]["unwritten"] > 0 and any("history cannot be written" in said for said in told["reasons"])
    assert httpx.get(f"{up.base_url}/ready", timeout=20).status_code == 200
    listed = ask("history", "--limit", "1", "--format", "json")
    assert json.loads(listed.out)["revisions"][0]["outcome"] == "applied"
    resource.prlimit(up.process.pid, resource.RLIMIT_FSIZE, (unlimited, unlimited))
    edit(folder, "drain: 21s", "drain: 22s")
    assert ask("reload").code == 0
    told = json.loads(ask("status", "--format", "json").out)
    assert told["state"] == "ready" and told["history"] == {**told["history"], "state": "fine", "unwritten": 0}
