"""`appliance validate` as people and programs see it."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import appliance

HEAVY = {"torch", "numpy", "transformers", "fastapi", "uvicorn", "huggingface_hub", "httpx", "jinja2", "rich", "zmq"}
Run = Callable[..., Any]
pytestmark = pytest.mark.usefixtures("profiles")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["good.yaml"], 0),
        (["open.yaml"], 0),
        (["--strict", "open.yaml"], 1),
        (["bad.yaml"], 1),
        (["good.yaml", "bad.yaml"], 1),
        (["gone.yaml"], 2),
        (["bad.yaml", "gone.yaml"], 2),
        ([], 2),
        (["--format", "xml", "good.yaml"], 2),
        (["--target", "0.32", "good.yaml"], 0),
        (["--target", "0.31", "good.yaml"], 2),
    ],
)
def test_exit_codes(run: Run, words: list[str], code: int) -> None:
    assert run("validate", "--offline", *words).code == code


def test_text_shows_the_line_and_points_at_the_value(run: Run) -> None:
    assert (
        run("validate", "--offline", "bad.yaml", "good.yaml", "open.yaml").out
        == """\
bad.yaml:5:19 AP0104 error kv_cache.dtype: "fp9" is not a KV format; did you mean "fp8"?
     5 │ kv_cache: {dtype: fp9}
       │                   ^^^
bad.yaml: 1 error
good.yaml: fine
open.yaml:5:18 AP0240 warning security.bind: 0.0.0.0:8000 is open to the network, and no API key is asked for; \
set security.api_keys, or bind 127.0.0.1
     5 │ security: {bind: 0.0.0.0:8000}
       │                  ^^^^^^^^^^^^
open.yaml: fine, 1 warning
"""
    )


def test_json(run: Run) -> None:
    report = json.loads(run("validate", "--offline", "--format", "json", "bad.yaml", "good.yaml").out)
    assert (report["errors"], report["warnings"]) == (1, 0)
    assert [file["ok"] for file in report["files"]] == [False, True]
    assert report["files"][0]["diagnostics"] == [
        {
            "code": "AP0104",
            "severity": "error",
            "file": "bad.yaml",
            "line": 5,
            "column": 19,
            "path": "kv_cache.dtype",
            "message": '"fp9" is not a KV format',
            "fix": 'did you mean "fp8"?',
        }
    ]


def test_sarif(run: Run, profiles: Path) -> None:
    (profiles / "a b.yaml").write_text((profiles / "bad.yaml").read_text())
    log = json.loads(run("validate", "--offline", "--format", "sarif", "a b.yaml", "open.yaml", "gone.yaml").out)
    assert log["version"] == "2.1.0"
    (ran,) = log["runs"]
    assert ran["tool"]["driver"]["name"] == "appliance"
    rules = [rule["id"] for rule in ran["tool"]["driver"]["rules"]]
    assert rules == ["AP0001", "AP0104", "AP0240"]
    assert all(rule["shortDescription"]["text"] for rule in ran["tool"]["driver"]["rules"])
    error, warning, unreadable = ran["results"]
    assert (error["ruleId"], error["level"], warning["level"]) == ("AP0104", "error", "warning")
    place = error["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "a%20b.yaml"}, "region": {"startLine": 5, "startColumn": 19}}
    assert "region" not in unreadable["locations"][0]["physicalLocation"]
    assert all(result["message"]["text"] for result in ran["results"])


def test_github(run: Run, profiles: Path) -> None:
    (profiles / "odd,name.yaml").write_text((profiles / "bad.yaml").read_text().replace("fp9", '"100%"'))
    out = run("validate", "--offline", "--format", "github", "odd,name.yaml", "open.yaml", "good.yaml").out
    first, second = out.splitlines()
    assert first.startswith('::error file=odd%2Cname.yaml,line=5,col=19,title=AP0104::kv_cache.dtype: "100%25" is not')
    assert second.startswith("::warning file=open.yaml,line=5,col=18,title=AP0240::")


def test_github_names_a_broken_line_only_where_there_is_one(run: Run) -> None:
    assert run("validate", "--format", "github", "gone.yaml").out.startswith("::error file=gone.yaml,title=AP0001::")


def on_terminal(*words: str, cwd: Path) -> str:
    """What a terminal of 80 columns receives."""
    ours, theirs = pty.openpty()
    environ = {
        **os.environ,
        "COLUMNS": "80",
        "TERM": "xterm",
        "PYTHONPATH": str(Path(appliance.__file__).parent.parent),
    }
    environ.pop("NO_COLOR", None)
    command = [sys.executable, "-m", "appliance", *words]
    with subprocess.Popen(command, cwd=cwd, stdout=theirs, stderr=theirs, stdin=subprocess.DEVNULL, env=environ):
        os.close(theirs)
        said = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:
                break
            if not part:
                break
            said += part
    os.close(ours)
    return said.decode().replace("\r\n", "\n")


def test_terminal_gets_colour_and_lines_of_80_columns(profiles: Path) -> None:
    import re

    said = on_terminal("validate", "--offline", "bad.yaml", "open.yaml", cwd=profiles)
    assert "\x1b[1;31mAP0104 error\x1b[0m" in said
    plain = re.sub(r"\x1b\[[0-9;]*m", "", said)
    assert max(map(len, plain.splitlines())) <= 80
    assert "                   ^^^" in plain


def test_no_heavy_library_is_imported(profiles: Path) -> None:
    script = (
        "import sys\nfrom appliance.cli.app import main\n"
        "try: main(['validate', '--offline', 'good.yaml', 'bad.yaml'])\nexcept SystemExit: pass\n"
        f"print(sorted({HEAVY} & set(sys.modules)))\n"
    )
    environ = {**os.environ, "PYTHONPATH": str(Path(appliance.__file__).parent.parent)}
    done = subprocess.run([sys.executable, "-c", script], cwd=profiles, env=environ, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


def test_the_planner_is_the_last_tier(run: Run, profiles: Path, tiny_model: Callable[..., Path]) -> None:
    text = (profiles / "good.yaml").read_text().replace("hf:a/b", str(tiny_model("llama")))
    (profiles / "big.yaml").write_text(text + "kv_cache: {size: 900TiB}\nsecurity: {bind: 127.0.0.1:0}\n")
    ran = run("validate", "big.yaml")
    assert (ran.code, "AP0403" in ran.out) == (1, True)
    assert run("validate", "--offline", "big.yaml").code == 0


def test_model_that_is_not_here_is_a_note(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("APPLIANCE_CACHE", str(tmp_path / "cache"))
    hash_ = "0" * 64
    source = f'"pypi:no-such-dist==1#a/b.gguf", sha256: "{hash_}"'
    Path("wheel.yaml").write_text(
        Path("good.yaml").read_text().replace("hf:a/b", source) + "security: {bind: 127.0.0.1:0}\n"
    )
    ran = run("validate", "--strict", "wheel.yaml")
    assert ran.code == 0
    assert (
        "AP0301 note model.source: the model is not on this machine yet; `appliance pull wheel.yaml` fetches it"
        in ran.out
    )
