"""Which release a file was written for, and what stands around the engine in it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
OLD = "vllm serve org/model --swap-space 4 --max-model-len 4096\n"
WORKLOAD = """\
apiVersion: apps/v1
kind: Deployment
spec:
  template:
    spec:
      containers:
      - image: vllm/vllm-openai:v0.32.0
        args: [--model, m]
"""


def test_given_releases(run: Run, tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text("vllm serve m --kv-cache-dtype fp8 --stream-interval 2\n")
    said = run("migrate", "--from", "0.31", "--to", "0.8.5", "run.sh").out
    assert "from 0.31 (as you said) to 0.8.5" in said
    assert "VM0002 --stream-interval: known in" in said and "you target 0.8.5" in said


def test_release_comes_from_a_requirement_file_beside(run: Run, tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("torch\nvllm==0.9.1\n")
    (tmp_path / "run.sh").write_text(OLD)
    assert "from 0.9.1 (the pin vllm==0.9.1 in requirements.txt:2)" in " ".join(run("migrate", "run.sh").out.split())


def test_moving_tag_is_remarked(run: Run, tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text("docker run vllm/vllm-openai:latest --model m --max-model-len 4096\n")
    assert "VM0105 image tag vllm/vllm-openai:latest: names no release" in run("migrate", "run.sh").out


def test_two_servers_on_one_device(run: Run, tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text("vllm serve a --port 1 &\nvllm serve b --gpu-memory-utilization 0.5\n")
    assert "2 servers ask for 0.92 + 0.5 of the memory" in " ".join(run("migrate", "run.sh").out.split())
    (tmp_path / "run.sh").write_text("CUDA_VISIBLE_DEVICES=0 vllm serve a &\nCUDA_VISIBLE_DEVICES=1 vllm serve b\n")
    assert "VM0106" not in run("migrate", "run.sh").out


def test_profile_of_an_older_release(run: Run, tmp_path: Path) -> None:
    old = 'schema: 1\nname: a # mine\nrelease: "0.31"\nmodel: {source: hf:a/b}\nkv_cache: {mamba: {mode: all}}\n'
    (tmp_path / "a.yaml").write_text(old)
    assert run("migrate", "--write", "a.yaml").code == 0
    assert (tmp_path / "a.yaml").read_text() == old.replace("0.31", "0.32").replace("mode: all", "mode: align")
    assert run("migrate", "--check", "a.yaml").code == 0


def test_newest_option_bounds_the_release(run: Run, tmp_path: Path) -> None:
    """Nothing names it, but a file with --stream-interval cannot be older than the release that brought that."""
    (tmp_path / "run.sh").write_text("vllm serve m --stream-interval 2\n")
    said = run("migrate", "run.sh").out
    assert "from 0.11.2 (or later: stream-interval came with it) to 0.32" in said
    assert "VM0804" not in said and "VM3221" in said


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "d.yaml",
            WORKLOAD + "        readinessProbe:\n          tcpSocket: {port: 8000}\n",
            "9:9 VM0111 readinessProbe: tcpSocket passes as soon as the port is open",
        ),
        (
            "d.yaml",
            WORKLOAD,
            "2:1 VM0111 readinessProbe: there is none",
        ),
        (
            "a.service",
            "[Service]\nEnvironmentFile=-/etc/chat.env\nExecStart=/usr/bin/vllm serve m\nRestart=always\n",
            "2:17 VM0110 EnvironmentFile /etc/chat.env: is not seen from here, so its variables are not looked at",
        ),
        (
            "a.service",
            "[Service]\nExecStart=/usr/bin/vllm serve m\nRestart=always\n",
            "3:1 VM0113 Restart=always: an option that the engine refuses makes it start over and over",
        ),
        (
            "r.sh",
            "vllm serve m --tool-call-parser $PARSER --quantization $QUANT\n",
            "VM0110 --quantization $QUANT: is filled in later, and some of its values changed",
        ),
    ],
)
def test_remarks_about_what_stands_around(run: Run, tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / name).write_text(text)
    assert said in " ".join(run("migrate", name).out.split())
