"""`appliance validate` and `appliance explain` about files and options of other programs."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

import appliance
from appliance.migrations.releases import RULES

Run = Callable[..., Any]


def test_text_points_at_the_option(run: Run, compose: Path) -> None:
    before = compose.read_bytes()
    ran = run("validate", "compose.yaml")
    assert (ran.code, compose.read_bytes()) == (1, before)
    assert "compose.yaml:11:7 VM1801 error --swap-space 16: removed without effect in 0.18.1" in ran.out
    assert "    11 │       --swap-space 16\n       │       ^^^^^^^^^^^^" in ran.out
    assert "[•••]" in ran.out


@pytest.mark.parametrize("format", ["json", "sarif", "github"])
def test_formats(run: Run, compose: Path, format: str) -> None:
    ran = run("validate", "--format", format, "compose.yaml")
    assert ran.code == 1
    if format == "github":
        assert "::error file=compose.yaml,line=11,col=7,title=VM1801::--swap-space 16" in ran.out
        return
    document = json.loads(ran.out)
    if format == "json":
        found = document["files"][0]["diagnostics"]
        assert ("VM1801", 11, 7) in {(one["code"], one["line"], one["column"]) for one in found}
        return
    rules = {rule["id"]: rule for rule in document["runs"][0]["tool"]["driver"]["rules"]}
    assert rules["VM1801"]["help"]["text"] == "delete it" and "swapped" in rules["VM1801"]["fullDescription"]["text"]


@pytest.mark.parametrize(
    ("name", "text", "codes"),
    [
        ("c.yaml", "max-model-len: 4096\nenable-prefix-caching: false\n", {"VM0013"}),
        ("c.yaml", 'max-model-len: 4096\ntrust-remote-code: "true"\n', {"VM0014"}),
        ("c.yaml", "max-model-len: 4096\nmax-model-len: 8192\n", {"VM0018"}),
        ("c.yaml", "max-model-len: ${LEN}\nmax-num-seqs: 4\ndtype: auto\n", {"VM0017"}),
        ("r.sh", "vllm serve m --max-model 4096\n", {"VM0003"}),
        ("r.sh", "vllm serve m --enable-prefix-caching=false\n", {"VM0012"}),
        ("r.sh", "vllm serve m --limit-mm-per-prompt '{\"images\": 4}'\n", {"VM0006"}),
        ("r.sh", "vllm serve m --compilation-config '{\"modus\": 3}'\n", {"VM0005"}),
        ("r.sh", "vllm serve m --tool-call-parser hermesx --enable-auto-tool-choice\n", {"VM0010"}),
        ("r.sh", "vllm serve m --kv-cache-dtype fp9\n", {"VM0007"}),
        ("r.sh", "vllm serve m --no-such-thing\n", {"VM0001"}),
        ("r.sh", "VLLM_NO_SUCH_THING=1 vllm serve m\n", {"VM0009"}),
    ],
)
def test_what_the_engine_only_half_checks(run: Run, tmp_path: Path, name: str, text: str, codes: set[str]) -> None:
    (tmp_path / name).write_text(text)
    document = json.loads(run("validate", "--format", "json", name).out)
    assert codes <= {found["code"] for found in document["files"][0]["diagnostics"]}


def test_exit_codes(run: Run, tmp_path: Path) -> None:
    (tmp_path / "fine.sh").write_text("vllm serve m --max-model-len 4096\n")
    (tmp_path / "old.sh").write_text("vllm serve m --swap-space 4\n")
    (tmp_path / "open.sh").write_text("vllm serve m --host 0.0.0.0\n")
    assert run("validate", "fine.sh").code == 0
    assert run("validate", "open.sh").code == 0
    assert run("validate", "--strict", "open.sh").code == 1
    assert run("validate", "fine.sh", "old.sh").code == 1
    assert run("validate", "--target", "0.17", "old.sh").code == 0
    assert run("validate", "--target", "0.99", "old.sh").code == 2


def test_profiles_and_other_files_in_one_call(run: Run, tmp_path: Path, compose: Path) -> None:
    (tmp_path / "p.yaml").write_text('schema: 1\nname: a\nrelease: "0.32"\nmodel: {source: hf:a/b}\n')
    ran = run("validate", "--offline", "p.yaml", "compose.yaml")
    assert "p.yaml: fine" in ran.out and "compose.yaml: " in ran.out


def test_others_can_be_passed_over(run: Run, tmp_path: Path) -> None:
    """As hooks do, which are handed every file of a repository."""
    (tmp_path / "service.yaml").write_text("kind: Service\napiVersion: v1\n")
    (tmp_path / "old.sh").write_text("vllm serve m --swap-space 4\n")
    (tmp_path / "p.yaml").write_text("schema: 1\n")
    assert run("validate", "--offline", "service.yaml").code == 1
    assert run("validate", "--offline", "--skip-others", "service.yaml").code == 0
    ran = run("validate", "--offline", "--skip-others", "service.yaml", "old.sh", "p.yaml")
    assert ran.code == 1 and "VM1801" in ran.out and "AP0102" in ran.out and "service" not in ran.out


def test_hook_and_action_call_what_exists(run: Run) -> None:
    root = Path(appliance.__file__).parent.parent
    hooks = yaml.safe_load((root / ".pre-commit-hooks.yaml").read_text())
    for hook in hooks:
        _, command, *options = hook["entry"].split()
        assert run(command, *options, "gone.sh").code == 2
    steps = yaml.safe_load((root / "action.yml").read_text())["runs"]["steps"]
    script = next(step["run"] for step in steps if step.get("name") == "validate")
    words = script.split("options=(")[1].split(")")[0].split()
    assert run("validate", *words, "--target", "0.32", "--strict", "gone.sh").code == 2


def test_broken_file_of_a_known_kind(run: Run, tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("services:\n  a:\n    image: vllm/vllm-openai\n    command: ['\n")
    ran = run("validate", "c.yaml")
    assert (ran.code, "VM0102" in ran.out) == (1, True)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_explain_has_a_page_for_every_rule(run: Run, rule: Any) -> None:
    said = " ".join(run("explain", rule.code).out.split())
    assert " ".join(rule.reason.split())[1:40] in said and f"Since {rule.since.short}" in said


@pytest.mark.parametrize(
    ("topic", "said"),
    [
        ("--max-seq-len-to-capture", "known in 0.8.5 and before, last in 0.10.2"),
        ("VLLM_USE_V1", "VM1111 since 0.11.2, removed without effect"),
        ("swap_space", "VM1801 since 0.18.1"),
        ("--compilation-config.full_cuda_graph", "VM1116 since 0.11.2, renamed"),
        ("--max-model-len", "known in 0.8.5 and before, still in 0.33"),
        ("-tp", "--tensor-parallel-size"),
    ],
)
def test_history_of_an_option(run: Run, topic: str, said: str) -> None:
    ran = run("explain", topic)
    assert ran.code == 0 and said in " ".join(ran.out.split())
    assert max(map(len, ran.out.splitlines())) <= 80
