"""`render vllm` prints what would be started, for a shell, and the same each time."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from appliance.cli.app import main

Render = Callable[..., tuple[int, str, str]]


@pytest.fixture
def render(capsys: pytest.CaptureFixture[str], tmp_path: Path, model: Path) -> Render:
    def run(*arguments: str, backend: str = "vllm", **tree: Any) -> tuple[int, str, str]:
        file = tmp_path / "a.yaml"
        engine = {"backend": backend, **tree.pop("engine", {})}
        head = {"schema": 1, "name": "triage", "release": "0.32", "model": {"source": str(model)}}
        file.write_text(json.dumps({**head, "engine": engine, **tree}))
        with pytest.raises(SystemExit) as ended:
            main(["render", "vllm", str(file), *arguments])
        seen = capsys.readouterr()
        return int(ended.value.code or 0), seen.out, seen.err

    return run


def words(text: str) -> list[str]:
    """As a shell would run it."""
    commands = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    return shlex.split(commands.replace("\\\n", ""))


def test_a_shell_gets_command_and_environment(render: Render) -> None:
    code, out, _ = render("--hardware", "cpu-8c-32g", security={"api_keys": [{"file": "/run/key"}]})
    assert code == 0
    assert words(out)[:10] == [
        "env",
        "-u",
        "VLLM_API_KEY",
        "HF_HUB_OFFLINE=1",
        "OMP_NUM_THREADS=8",
        "OMP_WAIT_POLICY=PASSIVE",
        "VLLM_CPU_OMP_THREADS_BIND=nobind",
        "VLLM_LOGGING_LEVEL=INFO",
        "VLLM_NO_USAGE_STATS=1",
        "vllm",
    ]
    assert words(out)[-2:] == ["--uds", "vllm-0.sock"]
    assert out == render("--hardware", "cpu-8c-32g", security={"api_keys": [{"file": "/run/key"}]})[1]


def test_one_command_for_each_copy(render: Render) -> None:
    out = render("--hardware", "h100x8", parallelism={"tensor": 2, "data": 2})[1]
    assert [word for word in words(out) if word.startswith("CUDA_")] == [
        "CUDA_VISIBLE_DEVICES=0,1",
        "CUDA_VISIBLE_DEVICES=2,3",
    ]
    assert words(out).count("serve") == 2


def test_the_other_machines_of_one_engine(render: Render) -> None:
    spread = {"tensor": 2, "nodes": 2}
    engine = {"vllm": {"options": {"master-addr": "10.0.0.1"}}}
    head = words(render("--hardware", "h100x8", parallelism=spread, engine=engine)[1])
    other = words(render("--hardware", "h100x8", "--node-rank", "1", parallelism=spread, engine=engine)[1])
    assert head[head.index("--node-rank") + 1] == "0"
    assert other[other.index("--node-rank") + 1] == "1"
    assert other[-1] == "--headless" and "--uds" not in other
    ray = {"vllm": {"options": {"distributed-executor-backend": "ray"}}}
    joined = render("--hardware", "h100x8", "--node-rank", "1", parallelism=spread, engine=ray)[1]
    assert joined.splitlines()[-1].startswith("ray start --block --address=")


@pytest.mark.parametrize(
    ("arguments", "tree", "code"),
    [((), {"backend": "native"}, "AP0812"), (("--node-rank", "1"), {}, "AP0813")],
)
def test_what_cannot_be_rendered(arguments: tuple[str, ...], tree: dict[str, Any], code: str, render: Render) -> None:
    status, out, err = render(*arguments, **tree)
    assert (status, out) == (1, "")
    assert code in err
