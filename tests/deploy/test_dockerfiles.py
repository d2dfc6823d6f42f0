"""The images, as far as a text tells: two stages, no root, nothing to build with in the last one, everything pinned."""

import importlib.util
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from dockerfile_parse import DockerfileParser
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from appliance.render import container

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
PLATFORMS = ("cpu", "cuda", "rocm", "xpu")
TOOLS = re.compile(r"\b(gcc|g\+\+|clang|cmake|make|build-essential|git|python3?-dev|[a-z0-9-]+-dev(el)?|pip install)\b")
PIN = re.compile(r"^([A-Za-z0-9._-]+)==(\S+) \\$", re.MULTILINE)


def stages(platform: str, tmp_path: Path) -> list[list[dict[str, Any]]]:
    """Instructions by stage, build arguments filled in."""
    parser = DockerfileParser(path=str(tmp_path / "Dockerfile"))
    parser.content = (DEPLOY / f"Dockerfile.{platform}").read_text()
    found: list[list[dict[str, Any]]] = []
    for step in parser.structure:
        if step["instruction"] == "FROM":
            found.append([])
        if found and step["instruction"] != "COMMENT":
            found[-1].append(step)
    return found


def values(stage: list[dict[str, Any]], instruction: str) -> list[str]:
    return [step["value"] for step in stage if step["instruction"] == instruction]


@pytest.mark.parametrize("platform", PLATFORMS)
def test_the_last_stage_only_runs(platform: str, tmp_path: Path) -> None:
    build, last = stages(platform, tmp_path)
    assert values(build, "FROM")[0].endswith(" AS build")
    assert any(value.startswith("--from=build /opt/appliance ") for value in values(last, "COPY"))
    assert not [run for run in values(last, "RUN") if TOOLS.search(run)]
    assert values(last, "USER") == [f"{container.USER}:{container.USER}"]
    assert [step["instruction"] for step in last].index("USER") > [step["instruction"] for step in last].index("COPY")
    assert values(last, "ENTRYPOINT") == ['["appliance"]']
    (variables,) = values(last, "ENV")
    for name in ("APPLIANCE_CACHE", "HF_HOME", "HOME"):
        assert f"{name}={container.ENVIRONMENT[name]}" in variables


def test_compiled_kernels_come_along_where_no_compiler_is(tmp_path: Path) -> None:
    build, last = stages("cpu", tmp_path)
    (made,) = [run for run in values(build, "RUN") if "prebuilt" in run]
    module, folder = made.split()[-2:]
    assert importlib.util.find_spec(module) is not None
    assert folder.startswith("/opt/appliance/")
    assert f"APPLIANCE_KERNELS={folder}" in values(last, "ENV")[0]


@pytest.mark.parametrize("platform", PLATFORMS)
def test_everything_is_pinned(platform: str, tmp_path: Path) -> None:
    text = (DEPLOY / f"Dockerfile.{platform}").read_text()
    (image,) = re.findall(r"^ARG PYTHON_IMAGE=(\S+)$", text, re.MULTILINE)
    assert re.fullmatch(r"python:3\.\d+\.\d+-slim-[a-z]+|ubuntu:[a-z]+-\d{8}", image)
    build, _ = stages(platform, tmp_path)
    installs = [run for run in values(build, "RUN") if "pip install" in run]
    for install in installs:
        assert "--require-hashes" in install or "--no-deps" in install or re.search(r" torch==[0-9.]+$", install)
    assert len(installs) == (2 if platform == "cuda" else 3)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_no_host_is_named(platform: str) -> None:
    """Registries and indexes are the operator's choice."""
    assert not re.search(r"://|\b[a-z0-9-]+\.(io|com|org|net)\b", (DEPLOY / f"Dockerfile.{platform}").read_text())


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-cuda.lock"])
def test_locks_hold_what_the_project_wants(lock: str) -> None:
    """When this fails, run deploy/lock.sh."""
    text = (DEPLOY / lock).read_text()
    pinned = {canonicalize_name(name): version for name, version in PIN.findall(text)}
    assert len(re.findall(r"--hash=sha256:[0-9a-f]{64}", text)) >= len(pinned) > 50
    assert "://" not in text
    environment = {"python_version": "3.12", "platform_system": "Linux", "platform_machine": "x86_64"}
    for line in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]:
        wanted = Requirement(line)
        name = canonicalize_name(wanted.name)
        if wanted.marker and not wanted.marker.evaluate(environment):
            continue
        if lock == "requirements.lock" and name in ("torch", "triton"):
            assert name not in pinned
            continue
        assert name in pinned and wanted.specifier.contains(pinned[name]), line


def test_torch_is_one_version_everywhere() -> None:
    (locked,) = re.findall(r"^torch==(\S+)", (DEPLOY / "requirements-cuda.lock").read_text(), re.MULTILINE)
    for platform in ("cpu", "rocm", "xpu"):
        assert f"torch=={locked}\n" in (DEPLOY / f"Dockerfile.{platform}").read_text()


def test_the_build_context_is_what_the_wheel_is_built_from() -> None:
    wanted = {line.removeprefix("!") for line in (ROOT / ".dockerignore").read_text().splitlines() if line[:1] == "!"}
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-dir"]
    assert set(packages.values()) | {"pyproject.toml", "README.md", "deploy/*.lock"} == wanted
