"""`appliance render` as a person and a pipeline use it."""

import dataclasses
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from plan_inputs import machine

Run = Callable[..., tuple[int, str, str]]
KINDS = ("kubernetes", "helm", "compose", "systemd")


@pytest.fixture
def run(command: Callable[..., Any]) -> Run:
    return lambda *arguments: dataclasses.astuple(command("render", *arguments))


@pytest.fixture
def profile(tmp_path: Path, tiny_model: Callable[..., Path]) -> Path:
    file = tmp_path / "a.yaml"
    file.write_text(f'schema: 1\nname: triage\nrelease: "0.32"\nmodel:\n  source: {tiny_model("qwen3")}\n')
    return file


@pytest.mark.parametrize("kind", KINDS)
def test_two_runs_are_byte_equal(profile: Path, tmp_path: Path, kind: str) -> None:
    """Other hash seeds, other working folders, other host names in the environment."""
    texts = []
    for seed, folder in (("0", tmp_path), ("4711", Path("/"))):
        environ = {**os.environ, "PYTHONHASHSEED": seed, "HOSTNAME": f"host-{seed}"}
        command = [sys.executable, "-m", "appliance", "render", kind, str(profile), "--hardware", "cpu-4c-16g"]
        ran = subprocess.run(command, cwd=folder, env=environ, capture_output=True, check=True)
        texts.append(ran.stdout)
    assert texts[0] == texts[1]
    assert texts[0].startswith(b"# Written by `appliance render ")


def test_what_is_free_just_now_changes_nothing(run: Run, profile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = set()
    for free in (15, 9):
        here = dataclasses.replace(machine("cpu-4c-16g"), name=f"host-{free}", memory_available=free * 2**30)
        monkeypatch.setattr("appliance.plan.probe", lambda here=here: here)
        code, out, err = run("kubernetes", profile)
        assert (code, "AP0805" in err) == (0, True)
        texts.add(out)
    assert len(texts) == 1
    assert "AP0805" not in run("kubernetes", profile, "--hardware", "cpu-4c-16g")[2]


def test_remarks_stay_out_of_the_text(run: Run, profile: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.yaml"
    code, out, err = run("kubernetes", profile, "--hardware", "cpu-4c-16g", "--namespace", "models", "-o", output)
    assert (code, out) == (0, "")
    assert "AP0802" in err and "AP0801" in err and str(profile) in err
    trees = list(yaml.safe_load_all(output.read_text()))
    assert {tree["metadata"]["namespace"] for tree in trees} == {"models"}
    assert "--namespace models" in output.read_text().splitlines()[0]


def test_image_and_replicas(run: Run, profile: Path) -> None:
    options = ("--hardware", "cpu-4c-16g", "--image", "models/appliance:7@sha256:" + "0" * 64, "--replicas", 3)
    _, out, _ = run("kubernetes", profile, *options)
    deployment = next(tree for tree in yaml.safe_load_all(out) if tree["kind"] == "Deployment")
    assert deployment["spec"]["replicas"] == 3
    assert deployment["spec"]["template"]["spec"]["containers"][0]["image"].startswith("models/appliance:7@sha256:")


@pytest.mark.parametrize(
    ("arguments", "code", "fragment"),
    [
        (("nomad",), 2, "known: kubernetes, helm, compose, systemd"),
        (("kubernetes", "--hardware", "toaster"), 2, "AP0411"),
        (("kubernetes", "--replicas", "0"), 2, "--replicas"),
        (("compose", "--replicas", "2"), 1, "AP0806"),
        (("kubernetes", "--output", "/no/such/folder/x.yaml"), 2, "AP0806"),
    ],
)
def test_bad_calls(run: Run, profile: Path, arguments: tuple[str, ...], code: int, fragment: str) -> None:
    kind, *options = arguments
    ended, out, err = run(kind, profile, *options)
    assert (ended, out) == (code, "")
    assert fragment in err and "Traceback" not in err


def test_a_forecast_is_said(run: Run, profile: Path) -> None:
    assert "AP0811" in run("kubernetes", profile, "--hardware", "h100x8")[2]
    assert "AP0811" not in run("kubernetes", profile, "--hardware", "cpu-4c-16g")[2]


def test_a_broken_profile_is_not_rendered(run: Run, profile: Path) -> None:
    profile.write_text(profile.read_text() + "kv_cache: {dtype: fp9}\n")
    code, out, err = run("kubernetes", profile)
    assert (code, out) == (1, "") and "AP0104" in err
    profile.write_text(profile.read_text().replace("source: /", "source: /nowhere/").replace("fp9", "auto"))
    code, out, err = run("kubernetes", profile)
    assert (code, out) == (2, "") and "AP0502" in err


@pytest.mark.parametrize("kind", KINDS)
def test_a_cache_that_comes_out_smaller_inside_the_limit_is_told(
    run: Run, profile: Path, tiny_model: Callable[..., Path], kind: str
) -> None:
    """What is advised makes it as large there as it was planned."""
    model = tiny_model("qwen3", max_position_embeddings=8192)
    batching = "engine: {batching: {max_sequences: 1024}}"
    profile.write_text(f'schema: 1\nname: triage\nrelease: "0.32"\nmodel: {{source: {model}}}\n{batching}\n')
    _, _, err = run(kind, profile, "--hardware", "cpu-4c-16g")
    (advice,) = re.findall(r"AP0814 note kv_cache.size: .*write kv_cache.size: (\d+ tokens)", " ".join(err.split()))
    profile.write_text(f"{profile.read_text()}kv_cache:\n  size: {advice}\n")
    assert "AP0814" not in run(kind, profile, "--hardware", "cpu-4c-16g")[2]
