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


def test_a_number_of_tokens_is_no_secret(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.sh").write_text("vllm serve m --max-num-batched-token=8192 --api-token 12345678\n")
    said = run("migrate", "a.sh").out
    assert "--max-num-batched-token=8192" in said and "12345678" not in said


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


def test_no_heavy_library_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text(OLD)
    script = "from appliance.cli.app import main\ntry: main(['migrate', 'run.sh'])\nexcept SystemExit: pass\n"
    script += "print([name for name in ('torch', 'numpy', 'rich', 'jsonschema', 'fastapi') if name in sys.modules])"
    root = Path(appliance.__file__).parent.parent
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(root)!r})\n{script}"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "[]"


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
