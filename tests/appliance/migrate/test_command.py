"""`appliance migrate` as people and programs see it."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import appliance

Run = Callable[..., Any]
OLD = "vllm serve org/model --swap-space 4 --max-model-len 4096\n"
NEW = "vllm serve org/model --max-model-len 4096\n"
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


def test_report_alone_tells_what_to_do(run: Run, compose: Path) -> None:
    before = compose.read_text()
    ran = run("migrate", "compose.yaml")
    assert (ran.code, ran.err, compose.read_text()) == (0, "", before)
    for said in (
        "--- a/compose.yaml",
        "-      --swap-space 16",
        "from 0.6.3 (image tag vllm/vllm-openai:v0.6.3 in line 4) to 0.32",
        "Would change",
        "11:7 VM1801 --swap-space 16: removed without effect",
        "Needs your decision",
        "set it to vllm/vllm-openai:v0.32.0",
        "Behaves differently although the text did not change",
        "VM3220 --allowed-origins",
        "Security",
        "--api-key: a secret stands here in clear text",
        "1 of 1 file would change",
    ):
        assert said in ran.out
    assert max(len(line) for line in ran.out.splitlines() if line[:1] not in "+-@ ") <= 80


def test_secrets_are_repeated_nowhere(run: Run, compose: Path) -> None:
    for words in (["--report", "json"], [], ["--check"], ["--as", "profile"], ["--write", "--diff"]):
        ran = run("migrate", *words, "compose.yaml")
        assert "abcdefgh" not in ran.out + ran.err
    ran = run("validate", "compose.yaml")
    assert "abcdefgh" not in ran.out + ran.err


def test_write_changes_options_only_and_once(run: Run, compose: Path) -> None:
    assert run("migrate", "--write", "compose.yaml").code == 0
    text = compose.read_text()
    assert (
        text
        == """\
# my server
services:
  chat:
    image: vllm/vllm-openai:v0.6.3
    ports: ["8000:8000"]
    environment:
      - HF_TOKEN=hf_abcdefghijklmnop
    # VM1703: --logits-processor-pattern: port the processor to a class and name it in --logits-processors
    command: >
      Qwen/Qwen2-7B-Instruct
      --max-model-len ${LEN:-8192}
      --structured-outputs-config.backend outlines
      --api-key sk-live-abcdefgh
      --attention-backend FLASHINFER

"""
    )
    assert run("migrate", "--check", "compose.yaml").code == 0
    assert run("migrate", "--write", "compose.yaml").code == 0
    assert compose.read_text() == text


def test_no_comments(run: Run, compose: Path) -> None:
    run("migrate", "--write", "--no-comments", "compose.yaml")
    assert "VM" not in compose.read_text()


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["old.sh"], 0),
        (["--check", "old.sh"], 1),
        (["--check", "new.sh"], 0),
        (["--check", "new.sh", "old.sh"], 1),
        (["--check", "."], 1),
        (["--check", "*.sh"], 1),
        (["--check", "n*.sh"], 0),
        (["--write", "."], 0),
        (["--diff", "old.sh"], 0),
        (["gone.sh"], 2),
        (["gone*.sh"], 2),
        (["--check", "--write", "old.sh"], 2),
        (["--to", "9.9", "old.sh"], 2),
        (["--to", "next", "old.sh"], 2),
        (["--from", "x", "old.sh"], 2),
        (["--dialect", "shel", "old.sh"], 2),
        (["--report", "xml", "old.sh"], 2),
        (["notes.txt"], 0),
        ([], 2),
    ],
)
def test_exit_codes(run: Run, tmp_path: Path, words: list[str], code: int) -> None:
    (tmp_path / "old.sh").write_text(OLD)
    (tmp_path / "new.sh").write_text(NEW)
    (tmp_path / "notes.txt").write_text("nothing here\n")
    assert run("migrate", *words).code == code


def test_folders_are_walked_without_hidden_and_installed_ones(run: Run, tmp_path: Path) -> None:
    for folder in ("a", "a/b", ".git", "node_modules"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "run.sh").write_text(OLD)
    (tmp_path / "a" / "README").write_text("text")
    (tmp_path / "a" / "image.png").write_bytes(b"\x89PNG\0\0")
    report = json.loads(run("migrate", "--report", "json", ".").out)
    assert [file["file"] for file in report["files"]] == ["a/run.sh", "a/b/run.sh"]


def test_one_file_under_two_names_is_done_once(run: Run, tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text(OLD)
    assert run("migrate", "--write", "run.sh", ".", "*.sh", str(tmp_path / "run.sh")).out.count("Changed") == 1


def test_json_report(run: Run, tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text(OLD)
    report = json.loads(run("migrate", "--report", "json", "run.sh").out)
    assert (report["version"], report["to"]) == (1, "0.32.0")
    (file,) = report["files"]
    assert (file["dialect"], file["encoding"], file["changes"], file["written"]) == ("shell", "utf-8", True, False)
    assert "-vllm serve org/model --swap-space 4" in file["diff"]
    (deployment,) = file["deployments"]
    assert (deployment["model"], deployment["from"]) == ("org/model", "0.17.1")
    found = next(finding for finding in deployment["findings"] if finding["code"] == "VM1801")
    assert (found["part"], found["severity"], found["line"], found["column"]) == ("changed", "error", 1, 22)
    assert found["since"] == "0.18.1" and found["evidence"]
    assert {finding["part"] for finding in deployment["findings"]} <= {"changed", "decision", "behaviour", "security"}


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


def test_profile_of_an_older_release(run: Run, tmp_path: Path) -> None:
    old = 'schema: 1\nname: a # mine\nrelease: "0.31"\nmodel: {source: hf:a/b}\nkv_cache: {mamba: {mode: all}}\n'
    (tmp_path / "a.yaml").write_text(old)
    assert run("migrate", "--write", "a.yaml").code == 0
    assert (tmp_path / "a.yaml").read_text() == old.replace("0.31", "0.32").replace("mode: all", "mode: align")
    assert run("migrate", "--check", "a.yaml").code == 0


def test_no_heavy_library_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text(OLD)
    script = "from appliance.cli.app import main\ntry: main(['migrate', 'run.sh'])\nexcept SystemExit: pass\n"
    script += "print([name for name in ('torch', 'numpy', 'rich', 'jsonschema', 'fastapi') if name in sys.modules])"
    root = Path(appliance.__file__).parent.parent
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(root)!r})\n{script}"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "[]"


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


def test_newest_option_bounds_the_release(run: Run, tmp_path: Path) -> None:
    """Nothing names it, but a file with --stream-interval cannot be older than the release that brought that."""
    (tmp_path / "run.sh").write_text("vllm serve m --stream-interval 2\n")
    said = run("migrate", "run.sh").out
    assert "from 0.11.2 (or later: stream-interval came with it) to 0.32" in said
    assert "VM0804" not in said and "VM3221" in said


def test_the_last_lines_say_what_to_do(run: Run, compose: Path) -> None:
    said = run("migrate", "compose.yaml").out
    assert said.index("Needs your decision") < said.index("what your clients send and get")
    assert said.index("what your clients send and get") < said.index("what the server does")
    end = said[said.index("1 of 1 file would change") :]
    assert "  1. write it: appliance migrate --write compose.yaml\n  2. decide: VM1703 (compose.yaml:" in end
    assert "VM0104 (compose.yaml:4)" in " ".join(end.split())
    done = run("migrate", "--write", "compose.yaml").out
    assert "1. decide: VM1703" in done and "write it:" not in done


def test_a_way_out_is_not_told_where_it_was_taken(run: Run, tmp_path: Path) -> None:
    rope = """vllm serve m --rope-scaling '{"rope_type": "yarn", "factor": 4}'\n"""
    (tmp_path / "run.sh").write_text(rope)
    said = " ".join(run("migrate", "run.sh").out.split())
    assert "VM2416 --rope-scaling (by now --hf-overrides.rope_scaling): renamed in 0.24" in said
    assert "write --hf-overrides" not in said


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
