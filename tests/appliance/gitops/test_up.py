"""A real appliance that follows a real repository."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import msgspec
import running
from git_remote import Remote

from appliance.supervise.admin_client import AdminClient
from appliance.supervise.admin_protocol import Status, StatusAnswer

ROOT = Path(__file__).resolve().parents[3]


class Operator:
    """What somebody sees who asks with the commands."""

    def __init__(self, up: running.Running, state: Path) -> None:
        self.up, self.state = up, state

    def call(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "appliance", *arguments, "--state-dir", str(self.state)]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env={**os.environ})

    def status(self) -> Any:
        with AdminClient(self.state, "follow") as client:
            return msgspec.to_builtins(client.ask(Status(), StatusAnswer).status)

    def until(self, commit: str, state: str) -> Any:
        """The status once `commit` has come to `state`; the empty commit is one that was not seen by this process."""
        for _ in range(900):
            found = self.status()
            git = found["gitops"]
            if git and (git["commit"], git["state"]) == (commit, state):
                return found
            time.sleep(0.1)
        raise AssertionError((git, self.up.output))


def test_commits_are_followed_refused_and_rolled_back(
    appliance_up: Callable[..., running.Running], tiny_model: Callable[..., Path], tmp_path: Path
) -> None:
    remote = Remote(tmp_path / "remote")
    model = tiny_model("llama")

    def profile(served: str, more: str = "", follow: bool = True) -> str:
        gitops = f"gitops: {{repo: {remote.path}, path: chat.yaml, interval: 1s}}\n" if follow else ""
        names = f"served_names: [{served}]"
        return f'schema: 1\nname: follow\nrelease: "0.32"\nmodel: {{source: {model}, {names}}}\n{gitops}{more}'

    first = remote.commit({"chat.yaml": profile("one")}, "the beginning")
    up = appliance_up(profile("local"))
    operator = Operator(up, tmp_path / "state")

    def served() -> str:
        return str(httpx.get(f"{up.base_url}/v1/models").json()["data"][0]["id"])

    status = operator.until(first, "Synced")
    assert (status["gitops"]["running"], served()) == (first, "one")
    revision = json.loads(operator.call("history", "--format", "json").stdout)["revisions"][0]
    assert (revision["source"], revision["commit"]["id"]) == ("git", first)
    assert revision["commit"]["author"] == "Ada Example <ada@example.org>"
    assert operator.call("status", "--exit-code").returncode == 0

    invalid = remote.commit({"chat.yaml": profile("two", "limits: {queue: {requests: many}}\n")}, "a typing error")
    status = operator.until(invalid, "Invalid")
    assert "chat.yaml at" in status["gitops"]["error"] and "limits.queue.requests" in status["gitops"]["error"]
    assert (status["gitops"]["running"], served()) == (first, "one")
    assert operator.call("status", "--exit-code").returncode == 1
    assert 'appliance_gitops_state{state="Invalid"} 1.0' in httpx.get(f"{up.base_url}/metrics").text

    failing = remote.commit({"chat.yaml": profile("three", "kv_cache: {size: 400TiB}\n")}, "too much")
    status = operator.until(failing, "Degraded")
    assert (status["gitops"]["running"], served()) == (first, "one")

    assert operator.call("rollback").returncode == 0
    status = operator.until(failing, "OutOfSync")
    assert (status["pin"]["revision"], served()) == (status["revision"], "local")

    last = remote.commit({"chat.yaml": profile("five", follow=False)}, "no gitops section")
    up.wait_for("not followed any more")
    up.wait_until(lambda: served() == "five")
    status = operator.status()
    assert (status["gitops"], status["pin"]) == (None, None), "a newer commit ends what the rollback held"
    assert last[:7] in operator.call("history").stdout
    assert up.stop() == 0


def test_restart_without_the_remote_boots_what_was_pulled(tiny_model: Callable[..., Path], tmp_path: Path) -> None:
    remote = Remote(tmp_path / "remote")
    model = tiny_model("llama")

    def profile(served: str) -> str:
        source = f"model: {{source: {model}, served_names: [{served}]}}"
        gitops = f"gitops: {{repo: {remote.path}, path: chat.yaml, interval: 1s}}"
        return f'schema: 1\nname: follow\nrelease: "0.32"\n{source}\n{gitops}\n'

    def served(up: running.Running) -> str:
        return str(httpx.get(f"{up.base_url}/v1/models").json()["data"][0]["id"])

    first = remote.commit({"chat.yaml": profile("pulled")})
    with running.boot(profile("local"), tmp_path) as up:
        Operator(up, tmp_path / "state").until(first, "Synced")
        assert up.stop() == 0
    remote.path.rename(tmp_path / "away")
    with running.boot(profile("local"), tmp_path) as up:
        assert served(up) == "pulled"
        operator = Operator(up, tmp_path / "state")
        assert "AP1001" in operator.until("", "Degraded")["gitops"]["error"]
        (tmp_path / "away").rename(remote.path)
        assert operator.until(first, "Synced")["revision"] == 3
        assert up.stop() == 0
