"""Variables that stand in other files: read, told with their place, never edited from here, never lost."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
ENV = "# mine\nVLLM_ATTENTION_BACKEND=FLASHINFER\nVLLM_USE_V1=0\nHF_TOKEN=hf_abcdefghijkl\nMODEL=Qwen/Qwen3-8B\n"
COMPOSE = """\
services:
  chat:
    image: vllm/vllm-openai:v0.8.5
    env_file: %s
    command: [m, --max-model-len, "100"]
"""
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  containers:
  - name: a
    image: vllm/vllm-openai:v0.8.5
    args: [m, --max-model-len, "100"]
    envFrom: [{configMapRef: {name: engine}}, {secretRef: {name: keys}}]
"""
MAP = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: engine}
data:
  VLLM_ATTENTION_BACKEND: FLASHINFER
  VLLM_USE_V1: "1"
"""


def told(run: Run, *words: str) -> str:
    return " ".join(run("migrate", *words).out.split())


@pytest.mark.parametrize(
    ("name", "text", "option"),
    [
        ("compose.yaml", COMPOSE % ".env", '"--attention-backend", FLASHINFER'),
        ("compose.yaml", COMPOSE % "[.env]", '"--attention-backend", FLASHINFER'),
        ("compose.yaml", COMPOSE % "[{path: ./.env, required: false}]", '"--attention-backend", FLASHINFER'),
        ("a.sh", "docker run --env-file .env vllm/vllm-openai:v0.8.5 m\n", "m --attention-backend FLASHINFER"),
        ("a.sh", "docker run --env-file=.env vllm/vllm-openai:v0.8.5 m\n", "m --attention-backend FLASHINFER"),
        ("a.sh", "set -a; . ./.env\nsource .env\nvllm serve m\n", "m --attention-backend FLASHINFER"),
        ("a.service", "[Service]\nEnvironmentFile=-/etc/.env\nExecStart=vllm serve m\n", "m --attention-backend FLASH"),
    ],
)
def test_are_read(run: Run, tmp_path: Path, name: str, text: str, option: str) -> None:
    (tmp_path / ".env").write_text(ENV)
    (tmp_path / name).write_text(text)
    said = told(run, "--write", name)
    assert "VLLM_ATTENTION_BACKEND FLASHINFER: moved" in said and ".env:2)" in said
    assert "VM1112" in said and ".env:3)" in said
    assert "VM0021" not in said and "hf_abcdef" not in said
    assert (tmp_path / ".env").read_text() == ENV
    once = (tmp_path / name).read_text()
    assert option.replace('"', "") in once.replace('"', "").replace("'", "")
    told(run, "--write", name)
    assert (tmp_path / name).read_text() == once


def test_name_the_model(run: Run, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(ENV)
    (tmp_path / "a.sh").write_text("source .env\nvllm serve $MODEL\n")
    assert "a.sh: Qwen/Qwen3-8B" in told(run, "a.sh")


@pytest.mark.parametrize("name", ["../gone.env", "${DIR}/x.env", "\\u0000x"])
def test_that_cannot_be_read_are_named(run: Run, tmp_path: Path, name: str) -> None:
    (tmp_path / "compose.yaml").write_text(COMPOSE % f'"{name}"')
    assert "is not seen from here, so its variables are not looked at" in told(run, "compose.yaml")


def test_what_stands_nearer_wins(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.env").write_text("VLLM_ATTENTION_BACKEND=FLASHINFER\n")
    (tmp_path / "b.env").write_text("VLLM_ATTENTION_BACKEND=TRITON_ATTN\n")
    (tmp_path / "compose.yaml").write_text(COMPOSE % "[a.env, b.env]")
    told(run, "--write", "compose.yaml")
    text = (tmp_path / "compose.yaml").read_text()
    assert "TRITON_ATTN" in text and "FLASHINFER" not in text
    near = (COMPOSE % "a.env").replace(
        "    command", "    environment: {VLLM_ATTENTION_BACKEND: FLEX_ATTENTION}\n    command"
    )
    (tmp_path / "compose.yaml").write_text(near)
    told(run, "--write", "compose.yaml")
    text = (tmp_path / "compose.yaml").read_text()
    assert "FLEX_ATTENTION" in text and "FLASHINFER" not in text


def test_config_map_of_the_same_file_is_edited(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(f"{MAP}---\n{POD}")
    said = told(run, "--write", "a.yaml")
    text = (tmp_path / "a.yaml").read_text()
    assert "data: {}" in text and "--attention-backend, FLASHINFER" in text.replace('"', "")
    assert "Secret keys: is not seen from here" in said and "ConfigMap engine" not in said
    assert told(run, "--check", "a.yaml") and run("migrate", "--check", "a.yaml").code == 0


def test_config_map_of_the_folder_is_read(run: Run, tmp_path: Path) -> None:
    (tmp_path / "map.yaml").write_text(MAP)
    (tmp_path / "a.yaml").write_text(POD)
    said = told(run, "--write", "a.yaml")
    assert "(it stands in map.yaml:5)" in said
    assert (tmp_path / "map.yaml").read_text() == MAP
    told(run, "--write", "map.yaml")
    left = (tmp_path / "map.yaml").read_text()
    assert "VLLM_USE_V1" not in left and "VLLM_ATTENTION_BACKEND: FLASHINFER" in left


KEYS = """\
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
  - image: vllm/vllm-openai:v0.8.5
    args: [org/m, --max-model-len, "100"]
    env:
    - {name: VLLM_ATTENTION_BACKEND, valueFrom: {configMapKeyRef: {name: engine, key: VLLM_ATTENTION_BACKEND}}}
    - {name: VLLM_LOGGING_LEVEL, valueFrom: {configMapKeyRef: {name: gone, key: level}}}
    - {name: VLLM_API_KEY, valueFrom: {secretKeyRef: {name: gone, key: key}}}
"""


@pytest.mark.parametrize("together", [True, False])
def test_single_keys_of_a_config_map_are_followed(run: Run, tmp_path: Path, together: bool) -> None:
    """The map itself stays: another object may refer to the key."""
    (tmp_path / "a.yaml").write_text(f"{MAP}---\n{KEYS}" if together else KEYS)
    (tmp_path / "map.yaml").write_text(MAP)
    said = told(run, "--write", "a.yaml")
    text = (tmp_path / "a.yaml").read_text()
    assert "--attention-backend, FLASHINFER" in text.replace('"', "")
    assert "name: VLLM_ATTENTION_BACKEND" not in text
    assert ("VLLM_ATTENTION_BACKEND: FLASHINFER" in text) is together
    assert "ConfigMap gone (level): is not seen from here" in said
    assert "ConfigMap engine" not in said and "gone (key)" not in said
    assert run("migrate", "--check", "a.yaml").code == 0


def test_a_shared_setting_goes_only_when_all_can_do_without(run: Run, tmp_path: Path) -> None:
    """The second service has no list of arguments that could take the option."""
    text = """\
x-env: &env
  VLLM_ATTENTION_BACKEND: FLASHINFER
services:
  one: {image: "vllm/vllm-openai:v0.8.5", environment: *env, command: [m, --max-model-len, "100"]}
  two: {image: "vllm/vllm-openai:v0.8.5", environment: *env}
"""
    (tmp_path / "compose.yaml").write_text(text)
    said = told(run, "--write", "compose.yaml")
    left = (tmp_path / "compose.yaml").read_text()
    assert "VLLM_ATTENTION_BACKEND: FLASHINFER" in left
    assert "another deployment of this file needs it as it stands" in said
