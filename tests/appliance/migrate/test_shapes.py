"""Files of many shapes: charts inside objects, commands over several lines, servers around the engine."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


def test_only_read_files_get_decisions(run: Run, tmp_path: Path) -> None:
    text = "from vllm import LLM\nllm = LLM(model='m', swap_space=4)\n"
    (tmp_path / "run.py").write_text(text)
    ran = run("migrate", "--write", "run.py")
    assert "this kind of file is only read" in " ".join(ran.out.split())
    assert (tmp_path / "run.py").read_text() == text
    (tmp_path / "run.py").write_text("import os\nos.system('vllm serve m --limit-mm-per-prompt image=10')\n")
    assert """write --limit-mm-per-prompt '{"image": 10}'""" in " ".join(run("migrate", "run.py").out.split())


def test_dialect_can_be_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("swap-space: 4\nmax-model-len: 10\n")
    assert "holds no engine options" in run("migrate", "notes.md").out
    assert "VM1801" in run("migrate", "--dialect", "vllm-config", "notes.md").out


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("argoproj.io/v1alpha1 Application", "  source: {helm: {valuesObject: {%s}}}"),
        ("argoproj.io/v1alpha1 Application", "  sources:\n  - helm:\n      values: |\n        {%s}"),
        ("helm.toolkit.fluxcd.io/v2 HelmRelease", "  values: {%s}"),
        ("helm.cattle.io/v1 HelmChart", "  valuesContent: |-\n    {%s}"),
    ],
)
def test_values_of_charts_inside_objects(run: Run, tmp_path: Path, kind: str, values: str) -> None:
    stack = 'servingEngineSpec: {modelSpec: [{name: a, modelURL: m, vllmConfig: {extraArgs: ["--swap-space", "4"]}}]}'
    group, name = kind.split()
    (tmp_path / "a.yaml").write_text(f"apiVersion: {group}\nkind: {name}\nspec:\n{values % stack}\n")
    assert "VM1801 --swap-space 4" in run("migrate", "--write", "a.yaml").out
    assert "extraArgs: []" in (tmp_path / "a.yaml").read_text()


def test_variables_of_a_chart_stand_beside_the_image_with_the_command(run: Run, tmp_path: Path) -> None:
    text = "image:\n  repository: vllm/vllm-openai\n  command: [vllm, serve, m, --max-model-len, '1']\n"
    (tmp_path / "values.yaml").write_text(text + "env:\n- name: VLLM_USE_V1\n  value: '1'\n")
    run("migrate", "--write", "values.yaml")
    assert (tmp_path / "values.yaml").read_text() == text + "env: []\n"


def test_lines_of_a_command_stay_lines(run: Run, tmp_path: Path) -> None:
    text = (
        "services:\n  a:\n    image: vllm/vllm-openai:v0.9.0\n    command: >\n      m --dtype auto\n%s      --seed 1\n"
    )
    (tmp_path / "compose.yaml").write_text(text % "      --swap-space 4 --enforce-eager\n")
    run("migrate", "--write", "compose.yaml")
    assert (tmp_path / "compose.yaml").read_text() == text % "      --enforce-eager\n"


def test_the_model_may_stand_in_the_entrypoint(run: Run, tmp_path: Path) -> None:
    text = "services:\n  a:\n    image: vllm/vllm-openai:v0.9.0\n    entrypoint: [vllm, serve, Qwen/Qwen3-8B]\n"
    (tmp_path / "compose.yaml").write_text(text + "    command: --max-model-len 4096 --swap-space 4\n")
    said = run("migrate", "--write", "compose.yaml").out
    assert "compose.yaml: a, Qwen/Qwen3-8B" in said and "add --reasoning-parser qwen3" in said
    assert "VM1025" not in said
    assert (tmp_path / "compose.yaml").read_text() == text + "    command: --max-model-len 4096\n"


def test_a_server_around_the_engine_keeps_its_own_options(run: Run, tmp_path: Path) -> None:
    line = "python3 /workspace/vllm/inference_api.py --kaito-config-file=/mnt/c.yaml --max-model-len 4096\n"
    (tmp_path / "run.sh").write_text(line.replace("4096", "4096 --swap-space=4"))
    assert "VM0001" not in run("migrate", "--write", "run.sh").out
    assert (tmp_path / "run.sh").read_text() == line


@pytest.mark.parametrize(("runtime", "found"), [("vllm", True), ("sglang", False)])
def test_arguments_of_a_custom_resource_are_the_engines_unless_it_names_another(
    run: Run, tmp_path: Path, runtime: str, found: bool
) -> None:
    (tmp_path / "a.yaml").write_text(
        "apiVersion: arks.ai/v1\nkind: ArksApplication\nmetadata: {name: vllm-or-not}\nspec:\n"
        f"  runtime: {runtime}\n  unified: {{runtimeCommonArgs: [--trust-remote-code, --swap-space=4]}}\n"
    )
    assert ("VM1801" in run("migrate", "a.yaml").out) is found
