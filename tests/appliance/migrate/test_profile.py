"""`--as profile`: what a deployment becomes, and what is said about the rest."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from appliance.profile import load

Run = Callable[..., Any]


def made(run: Run, tmp_path: Path, text: str, name: str = "run.sh") -> dict[str, Any]:
    (tmp_path / name).write_text(text)
    (profile,) = json.loads(run("migrate", "--as", "profile", "--report", "json", name).out)["profiles"]
    found: dict[str, Any] = profile
    return found


def test_native_profile_is_one_that_loads(run: Run, tmp_path: Path) -> None:
    profile = made(
        run,
        tmp_path,
        "vllm serve org/chat-7b --served-model-name chat --max-model-len 4096 --max-num-seqs 8 --dtype bfloat16 \\\n"
        "  --no-enable-prefix-caching --gpu-memory-utilization 0.5 --host 127.0.0.1 --port 9000 --block-size 32 \\\n"
        "  --allowed-origins '[\"https://a.example\"]' --uvicorn-log-level warning --disable-uvicorn-access-log \\\n"
        "  --swap-space 4 --kv-cache-memory-bytes 2147483648 --api-key $KEY --max-num-batched-tokens=2k\n",
    )
    assert profile["backend"] == "native"
    (tmp_path / "p.yaml").write_text(profile["profile"])
    _, loaded, findings = load(str(tmp_path / "p.yaml"))
    assert loaded is not None, findings
    assert loaded.model.source == "hf:org/chat-7b" and loaded.model.served_names == ("chat",)
    assert (loaded.model.max_context, loaded.engine.batching.max_sequences) == (4096, 8)
    assert (loaded.kv_cache.prefix_caching, loaded.kv_cache.size, loaded.kv_cache.block_tokens) == (False, 2**31, 32)
    assert (loaded.security.bind, loaded.security.cors.origins) == ("127.0.0.1:9000", ("https://a.example",))
    assert (loaded.observability.log_level, loaded.observability.access_log) == ("warning", False)
    assert [key.env for key in loaded.security.api_keys] == ["APPLIANCE_API_KEY"]
    assert loaded.engine.batching.max_tokens == 2000
    assert [missing["subject"] for missing in profile["missing"]] == ["--api-key"]


def test_what_needs_vllm_says_so(run: Run, tmp_path: Path) -> None:
    profile = made(
        run,
        tmp_path,
        "vllm serve org/m --tensor-parallel-size 4 --quantization awq --enforce-eager --num-scheduler-steps 8 "
        '--rope-scaling \'{"rope_type": "yarn", "factor": 2.0}\'\n',
    )
    assert profile["backend"] == "vllm"
    assert "--hf-overrides, --quantization need vLLM itself" in profile["profile"]
    (tmp_path / "p.yaml").write_text(profile["profile"])
    _, loaded, _ = load(str(tmp_path / "p.yaml"))
    assert loaded is not None
    assert loaded.parallelism.tensor == 4 and loaded.engine.backend == "vllm"
    options = dict(loaded.engine.vllm.options)
    assert options["quantization"] == "awq" and options["enforce-eager"] is True
    assert json.loads(str(options["hf-overrides"])) == {"rope_parameters": {"rope_type": "yarn", "factor": 2.0}}
    assert set(options) == {"quantization", "enforce-eager", "hf-overrides"}
    assert [found for found in profile["diagnostics"] if found["severity"] == "error"] == []


def test_what_has_no_equivalent_is_listed_with_its_place(run: Run, tmp_path: Path) -> None:
    text = "VLLM_LOGGING_LEVEL=DEBUG vllm serve org/m --seed 3 --max-model-len $LEN\n"
    profile = made(run, tmp_path, text)
    said = {(missing["subject"], missing["line"], missing["column"]) for missing in profile["missing"]}
    assert {("VLLM_LOGGING_LEVEL", 1, 1), ("--seed", 1, text.index("--seed") + 1)} <= said
    assert "# No equivalent: --seed: a request carries its own seed" in profile["profile"]
    assert "# Yours: --max-model-len: is filled in later ($LEN)" in profile["profile"]


def test_an_option_without_a_field_that_answers_depend_on_asks_for_vllm(run: Run, tmp_path: Path) -> None:
    """Whatever the native engine has no use for does not."""
    scaling = '--rope-scaling \'{"rope_type": "yarn", "factor": 2.0}\''
    assert made(run, tmp_path, f"vllm serve org/m {scaling}\n")["backend"] == "vllm"
    native = made(run, tmp_path, "vllm serve org/m --enforce-eager --disable-log-stats\n")
    assert native["backend"] == "native"
    assert {missing["subject"] for missing in native["missing"]} == {"--enforce-eager", "--disable-log-stats"}


def test_decisions_and_changes_of_behaviour_are_told_of_a_profile_too(run: Run, tmp_path: Path) -> None:
    scaling = '--rope-scaling \'{"rope_type": "yarn", "factor": 2.0}\''
    profile = made(run, tmp_path, f"pip install vllm==0.8.5\nvllm serve org/m {scaling}\n")
    parts = {(finding["part"], finding["code"]) for finding in profile["findings"]}
    assert ("decision", "VM2416") in parts and ("behaviour", "VM1220") in parts
    told = run("migrate", "--as", "profile", "run.sh").err
    assert "Needs your decision" in told and "VM2416" in told and "VM1220" in told


def test_of_the_native_engine_only_what_clients_and_dashboards_see_is_told(run: Run, tmp_path: Path) -> None:
    codes = {one["code"] for one in made(run, tmp_path, "pip install vllm==0.8.5\nvllm serve org/m\n")["findings"]}
    assert "VM1220" in codes and "VM1407" not in codes


def test_what_the_profile_has_settled_is_no_decision(run: Run, tmp_path: Path) -> None:
    """Formats that are only reported on leave every change to a person; a profile made of one does not."""
    text = 'image = "vllm/vllm-openai:v0.8.5"\nargs = ["--model", "org/m", "--swap-space", "4", "--task", "embed"]\n'
    codes = [one["code"] for one in made(run, tmp_path, text, "main.tf")["findings"] if one["part"] == "decision"]
    assert codes == ["VM1302"]


def test_variables_of_others_are_named(run: Run, tmp_path: Path) -> None:
    text = "services:\n  a:\n    image: vllm/vllm-openai:v0.9.0\n    command: --model org/m\n    environment:\n"
    text += "      HF_TOKEN: ${HF_TOKEN}\n      NCCL_DEBUG: INFO\n"
    profile = made(run, tmp_path, text, "compose.yaml")
    assert {(one["subject"], one["yours"]) for one in profile["missing"]} == {("HF_TOKEN", True), ("NCCL_DEBUG", True)}


def test_the_flag_of_a_key_wins_over_its_variable(run: Run, tmp_path: Path) -> None:
    profile = made(run, tmp_path, "VLLM_API_KEY=$A vllm serve org/m --api-key $B\n")
    assert "- env: APPLIANCE_API_KEY\n" in profile["profile"] and "env: VLLM_API_KEY" not in profile["profile"]
    assert ("VLLM_API_KEY", "--api-key takes its place") in {
        (one["subject"], one["reason"]) for one in profile["missing"]
    }


def test_speculation_by_look_up_has_fields(run: Run, tmp_path: Path) -> None:
    config = {"method": "ngram", "num_speculative_tokens": 4, "prompt_lookup_max": 3}
    text = f"vllm serve m --speculative-config '{json.dumps(config)}'"
    assert "method: ngram\n    max_tokens: 4\n    lookup_max: 3" in made(run, tmp_path, text)["profile"]


def test_interpolation_with_a_default_survives(run: Run, tmp_path: Path) -> None:
    text = "services:\n  a:\n    image: vllm/vllm-openai:v0.9.0\n    command: "
    text += "--model ${M:-org/m} --max-model-len ${LEN:-8192}\n"
    profile = made(run, tmp_path, text, "compose.yaml")
    assert "source: hf:${M:-org/m}" in profile["profile"] and "max_context: ${LEN:-8192}" in profile["profile"]


def test_a_parser_of_vllm_alone_keeps_the_switch_that_it_needs(run: Run, tmp_path: Path) -> None:
    profile = made(run, tmp_path, "vllm serve org/m --enable-auto-tool-choice --tool-call-parser hermes\n")
    assert profile["backend"] == "vllm"
    assert "tool-call-parser: hermes" in profile["profile"] and "enable-auto-tool-choice: true" in profile["profile"]
    assert not any("VM0031" in line["code"] for line in profile["diagnostics"])


def test_a_switch_that_a_field_turns_on_is_yours_where_the_field_is_empty(run: Run, tmp_path: Path) -> None:
    profile = made(run, tmp_path, "vllm serve org/m --enable-lora\n")
    assert [one["subject"] for one in profile["missing"]] == ["--enable-lora"]


def test_null_says_nothing(run: Run, tmp_path: Path) -> None:
    profile = made(run, tmp_path, "model: org/m\nrevision: null\nmax-model-len: 4096\n", "config.yaml")
    assert profile["missing"] == [] and "revision" not in profile["profile"]


def test_no_model_is_yours_to_write(run: Run, tmp_path: Path) -> None:
    profile = made(run, tmp_path, "max-model-len: 4096\ngpu-memory-utilization: 0.8\n", "engine.yaml")
    assert "model" in {missing["subject"] for missing in profile["missing"]}


def test_written_beside_and_never_over_another(run: Run, compose: Path) -> None:
    assert run("migrate", "--as", "profile", "--write", "compose.yaml").code == 0
    path = compose.with_name("chat.profile.yaml")
    text = path.read_text()
    assert text.startswith("#") and "name: chat" in text and "sk-live" not in text
    ran = run("migrate", "--as", "profile", "--write", "compose.yaml")
    assert (ran.code, "is there already" in ran.err, path.read_text()) == (2, True, text)


def test_profile_goes_to_standard_output_alone(run: Run, compose: Path) -> None:
    ran = run("migrate", "--as", "profile", "compose.yaml")
    assert compose.exists() and "schema: 1" in ran.out and "backend" in ran.err
    assert all(line.startswith(("#", " ", "-")) or ":" in line for line in ran.out.splitlines())


@pytest.mark.parametrize("text", ["schema: 1\nname: a\n", "nothing\n", ""])
def test_nothing_to_make_a_profile_of(run: Run, tmp_path: Path, text: str) -> None:
    (tmp_path / "a.yaml").write_text(text)
    ran = run("migrate", "--as", "profile", "a.yaml")
    assert (ran.code, ran.out) == (0, "") and ran.err.startswith("a.yaml: ")
