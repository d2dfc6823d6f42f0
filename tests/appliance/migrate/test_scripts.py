"""Scripts written anew: what may be moved, and what would break them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


def migrated(run: Run, tmp_path: Path, text: str) -> str:
    (tmp_path / "a.sh").write_text(text)
    assert run("migrate", "--write", "--no-comments", "--from", "0.10", "a.sh").code == 0
    return (tmp_path / "a.sh").read_text()


MOVED = "export VLLM_ATTENTION_BACKEND=FLASHINFER"


@pytest.mark.parametrize(
    "text",
    [
        f"if x; then\n  {MOVED}\nfi\nvllm serve m\n",
        f"[ -n x ] && {MOVED}\nvllm serve m\n",
        f"run() {{\n  {MOVED}\n  vllm serve m\n}}\nrun\nvllm serve n\n",
        f"{MOVED}\necho $VLLM_ATTENTION_BACKEND\nvllm serve m\n",
    ],
    ids=["if", "and", "function", "read"],
)
def test_a_variable_that_is_not_always_there_becomes_no_option(run: Run, tmp_path: Path, text: str) -> None:
    assert migrated(run, tmp_path, text) == text


@pytest.mark.parametrize("text", [f"{MOVED}\nvllm serve m\n", f"f() {{\n  {MOVED}\n  vllm serve m\n}}\n"])
def test_one_that_is_does(run: Run, tmp_path: Path, text: str) -> None:
    new = migrated(run, tmp_path, text)
    assert MOVED not in new and "vllm serve m --attention-backend FLASHINFER\n" in new


def test_a_command_in_a_variable_gets_no_quotes_unless_a_shell_reads_it(run: Run, tmp_path: Path) -> None:
    held = 'CMD="vllm serve m --speculative-model d --num-speculative-tokens 5"\n'
    assert """config {\\"model\\":\\"d\\",\\"num""" in migrated(run, tmp_path, f"{held}$CMD\n")
    assert """config '{\\"model\\": \\"d\\", \\"num""" in migrated(run, tmp_path, f'{held}eval "$CMD"\n')


def test_a_comment_between_two_that_go_stays(run: Run, tmp_path: Path) -> None:
    text = "A=(\n  --swap-space 4\n  # a note\n  --disable-log-requests\n  --port 1\n)\nvllm serve m ${A[@]}\n"
    assert migrated(run, tmp_path, text) == text.replace("  --swap-space 4\n", "").replace(
        "  --disable-log-requests\n", ""
    )


@pytest.mark.parametrize(
    "line",
    ['bash -c "vllm serve m $OPTS"', 'CMD="vllm serve m $OPTS"\neval "$CMD"', "conda run -n v vllm serve m $OPTS"],
)
def test_options_in_a_variable_are_found_from_inside_quotes(run: Run, tmp_path: Path, line: str) -> None:
    assert migrated(run, tmp_path, f'OPTS="--swap-space 4 --port 1"\n{line}\n') == f'OPTS="--port 1"\n{line}\n'


def test_an_image_in_pieces_tells_the_release(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.sh").write_text("IMG=vllm/vllm-openai\nTAG=v0.8.5\ndocker run $IMG:$TAG --model m --swap-space 4\n")
    assert "from 0.8.5 (image tag vllm/vllm-openai:v0.8.5 in line 3)" in run("migrate", "a.sh").out


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("-O '{\"level\":3}'", "--compilation-config.mode '3'"),
        ("-O.level=3 -O '{\"level\":3}'", "--compilation-config.mode=3"),
        ("-O '{\"full_cuda_graph\": true}'", "--compilation-config.cudagraph_mode 'FULL'"),
        ("-O.full_cuda_graph true", "--compilation-config.cudagraph_mode FULL"),
    ],
)
def test_another_spelling_of_an_option_goes_all_the_way_at_once(run: Run, tmp_path: Path, old: str, new: str) -> None:
    """Rules older than the one that took the spelling away were followed in a second run only."""
    once = migrated(run, tmp_path, f"vllm serve m {old}\n")
    assert once == f"vllm serve m {new}\n"
    assert run("migrate", "--check", "a.sh").code == 0
