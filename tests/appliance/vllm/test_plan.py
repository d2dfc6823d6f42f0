"""What a profile becomes for vLLM: command line, environment, memory, and what is left to vLLM itself."""

import json
from pathlib import Path
from typing import Any

import pytest
from plan_inputs import machine, make_profile
from vllm_plans import PROFILES, vllm_plan

from appliance.diagnostics import ApplianceError
from appliance.plan import Plan, diff_plans, make_plan, read_checkpoint
from appliance.profile.fields import leaves
from appliance.supervise.backends import engine_change
from appliance.validate import validate
from appliance.vllm.config import VllmConfig

SAID_ELSEWHERE = {
    "model.source": "the word behind `serve`",
    "model.max_context": "--max-model-len, always",
    "hardware.memory_fraction": "--gpu-memory-utilization, always on devices",
    "parallelism.data": "processes of ours",
    "parallelism.nodes": "several options",
    "parallelism.api_servers": "ours",
    "observability.log_level": "always",
    "observability.log_format": "ours",
    "observability.access_log": "ours",
    "limits.queue.requests": "ours",
    "limits.queue.tokens": "ours",
}
OURS = ("security.bind", "security.api_keys", "security.cors.origins", "security.cors.credentials", "security.tls")


def config(plan: Plan) -> VllmConfig:
    assert plan.vllm is not None and plan.engine is None
    return plan.vllm


def option(plan: Plan, name: str) -> list[str] | None:
    """The words behind an option; None where it is not there."""
    words = list(config(plan).arguments)
    if name not in words:
        return None
    start = words.index(name) + 1
    end = next((i for i in range(start, len(words)) if words[i].startswith("--")), len(words))
    assert words.count(name) == 1
    return words[start:end]


def made(folder: Path, where: str = "cpu-8c-32g", **tree: Any) -> Plan:
    engine = {"backend": "vllm", **tree.pop("engine", {})}
    return make_plan(make_profile({**tree, "engine": engine}), machine(where), read_checkpoint(folder), forecast=True)


@pytest.mark.parametrize("path", [path for path, field in leaves().items() if field.option])
def test_every_field_with_an_option_is_rendered_or_said_elsewhere(path: str) -> None:
    from appliance.plan.vllm.fields import FIELDS

    assert path in FIELDS or path in SAID_ELSEWHERE or path.startswith(OURS)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("least", ["--max-model-len", "auto"]),
        ("cache", ["--kv-cache-dtype", "fp8"]),
        ("cache", ["--kv-cache-memory-bytes", "1073741824"]),
        ("cache", ["--block-size", "32"]),
        ("cache", ["--no-enable-prefix-caching"]),
        ("cache", ["--max-model-len", "512"]),
        ("cache", ["--dtype", "bfloat16"]),
        ("cache", ["--gpu-memory-utilization", "0.9"]),
        ("cache-in-tokens", ["--num-gpu-blocks-override", "256"]),
        ("cache-in-tokens", ["--block-size", "16"]),
        ("cache-in-tokens", ["--mamba-cache-mode", "align"]),
        ("skipped-layers", ["--kv-cache-dtype-skip-layers", "0", "sliding_window"]),
        ("int8-and-code", ["--quantization", "int8_per_channel_weight_only"]),
        ("int8-and-code", ["--trust-remote-code"]),
        ("names-and-adapters", ["--served-model-name", "a", "b"]),
        ("names-and-adapters", ["--enable-lora"]),
        ("batching", ["--max-num-seqs", "8"]),
        ("batching", ["--max-num-batched-tokens", "512"]),
        ("batching", ["--enable-chunked-prefill"]),
        ("whole-prompts", ["--no-enable-chunked-prefill"]),
        ("parsers", ["--tool-call-parser", "hf"]),
        ("parsers", ["--enable-auto-tool-choice"]),
        ("parsers", ["--reasoning-parser", "hf"]),
        ("media", ["--allowed-media-domains", "cdn.example.org"]),
        ("media", ["--allowed-local-media-path", "/media"]),
        ("copies-on-devices", ["--tensor-parallel-size", "2"]),
        ("copies-on-devices", ["--pipeline-parallel-size", "2"]),
        ("nodes", ["--nnodes", "2"]),
        ("nodes", ["--node-rank", "0"]),
        ("nodes", ["--distributed-executor-backend", "mp"]),
        ("nodes", ["--master-addr", "10.0.0.1"]),
        ("ray", ["--distributed-executor-backend", "ray"]),
        ("experts", ["--data-parallel-size", "4"]),
        ("experts", ["--enable-expert-parallel"]),
        ("experts", ["--enable-elastic-ep"]),
        ("experts", ["--data-parallel-backend", "ray"]),
        ("options", ["--compilation-config", '{"mode": 0}']),
        ("options", ["--no-enable-sleep-mode"]),
        ("options", ["--attention-config.backend", "FLASH_ATTN"]),
        ("options", ["--cudagraph-capture-sizes", "1", "2", "4"]),
        ("options", ["--tool-call-parser", "hermes"]),
    ],
)
def test_words(name: str, words: list[str], model: Path) -> None:
    assert option(vllm_plan(name, model), words[0]) == words[1:]


def test_speculation_is_json(model: Path) -> None:
    words = option(vllm_plan("speculation", model), "--speculative-config")
    assert words and json.loads(words[0]) == {
        "method": "ngram",
        "num_speculative_tokens": 3,
        "prompt_lookup_max": 4,
    }


@pytest.mark.parametrize("name", PROFILES)
def test_every_line_ends_alike_and_is_deterministic(name: str, model: Path) -> None:
    plan = vllm_plan(name, model)
    assert config(plan).arguments[0] == str(model)
    assert config(plan).argv()[-3:] == ["--fail-on-environ-validation", "--uds", "vllm.sock"]
    assert plan == vllm_plan(name, model)
    assert not {"--api-key", "--host", "--port"} & set(config(plan).arguments)


def test_nobody_wrote_it_so_vllm_decides(model: Path) -> None:
    plan = vllm_plan("least", model)
    for name in ("--block-size", "--enable-prefix-caching", "--max-num-seqs", "--dtype", "--kv-cache-dtype"):
        assert option(plan, name) is None
    assert plan.value("kv_cache.block_tokens") == "auto"


def test_copies_do_not_share_devices_or_fight_for_cores(model: Path) -> None:
    visible = [own["CUDA_VISIBLE_DEVICES"] for own in config(vllm_plan("copies-on-devices", model)).replicas]
    assert visible == ["0,1,2,3", "4,5,6,7"]
    assert config(vllm_plan("devices", model)).replicas == ({"CUDA_VISIBLE_DEVICES": "4,5"},)
    two = vllm_plan("two-copies-on-a-cpu", model)
    assert [own["OMP_NUM_THREADS"] for own in config(two).replicas] == ["4", "4"]
    assert two.server.engine_addresses == ("unix:vllm-0.sock", "unix:vllm-1.sock")
    assert two.memory.kv_pool * 2 <= vllm_plan("least", model).memory.kv_pool


def test_too_few_devices_for_the_copies(model: Path) -> None:
    with pytest.raises(ApplianceError, match="8 x 2 devices are wanted, h100x8 has 8"):
        made(model, "h100x8", parallelism={"tensor": 2, "data": 8})


def test_keys_are_withheld_and_named_nowhere(model: Path) -> None:
    plan = made(model, security={"api_keys": [{"env": "SOME_KEY"}, {"file": "/run/key"}]})
    assert config(plan).withheld == ("SOME_KEY", "VLLM_API_KEY")
    assert "SOME_KEY" not in " ".join([*config(plan).arguments, *config(plan).environment.values()])


def test_media_and_adapters_in_the_environment(model: Path) -> None:
    media = config(vllm_plan("media", model)).environment
    assert (media["VLLM_MEDIA_URL_ALLOW_REDIRECTS"], media["VLLM_MAX_IMAGE_PIXELS"]) == ("0", "1000000")
    adapters = config(vllm_plan("names-and-adapters", model)).environment
    assert adapters["VLLM_ALLOW_RUNTIME_LORA_UPDATING"] == "1"
    assert "VLLM_ALLOW_RUNTIME_LORA_UPDATING" not in media


def test_an_architecture_that_only_vllm_knows(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"architectures": ["BambaForCausalLM"], "model_type": "bamba"}))
    (tmp_path / "model.safetensors").write_bytes(b"\0" * 1000)
    plan = made(tmp_path)
    assert (plan.model.architecture, plan.model.stored_bytes, plan.model.parameters) == ("BambaForCausalLM", 1000, None)
    assert config(plan).proof == "completion"
    with pytest.raises(ApplianceError, match="AP0410"):
        make_plan(make_profile(), machine("cpu-8c-32g"), read_checkpoint(tmp_path))


@pytest.mark.parametrize(
    ("architecture", "proof", "on"),
    [
        ("BertModel", "embedding", "embeddings"),
        ("WhisperForConditionalGeneration", "transcription", "transcriptions"),
        ("Qwen3ForSequenceClassification", "classification", None),
        ("SomethingNew", "health", "responses"),
    ],
)
def test_what_a_model_proves_itself_with(architecture: str, proof: str, on: str | None, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"architectures": [architecture]}))
    plan = made(tmp_path)
    assert config(plan).proof == proof
    auto = ("responses", "messages", "embeddings", "transcriptions")
    switched = [name for name in auto if plan.server.endpoints[name] == "on"]
    assert on in switched if on else switched == []


def test_memory_that_does_not_suffice(model: Path) -> None:
    with pytest.raises(ApplianceError, match="AP0403"):
        made(model, kv_cache={"size": "1TiB"})
    with pytest.raises(ApplianceError, match="AP0401"):
        made(model, "container-4c-8g", hardware={"memory_fraction": 0.2})


def test_eager_boots_sooner_and_the_limit_is_generous(model: Path) -> None:
    compiled, eager = made(model), made(model, engine={"vllm": {"options": {"enforce-eager": True}}})
    assert eager.boot_seconds < compiled.boot_seconds
    assert config(compiled).boot_limit > 5 * compiled.boot_seconds


@pytest.mark.parametrize(
    ("change", "classes", "new_processes"),
    [
        ({"limits": {"queue": {"requests": 9}}}, {"limits.queue.requests": "live"}, False),
        ({"model": {"served_names": ["x"]}}, {"model.served_names": "engine"}, True),
        ({"parsers": {"tool": "hf"}}, {"parsers.tool": "engine"}, True),
        ({"kv_cache": {"dtype": "fp8"}}, {"kv_cache.dtype": "engine"}, True),
        ({"engine": {"vllm": {"options": {"seed": 3}}}}, {"engine.vllm.options": "engine"}, True),
    ],
)
def test_what_a_change_needs(change: dict[str, Any], classes: dict[str, str], new_processes: bool, model: Path) -> None:
    before, after = made(model), made(model, **change)
    assert {one.path: one.reload for one in diff_plans(before, after)} == classes
    assert bool(engine_change(before, after).replace) is new_processes


def test_elastic_experts_change_their_number_live(model: Path) -> None:
    expert = {"enabled": True, "elastic": True}
    four, two = (made(model, "h100x8", parallelism={"data": size, "expert": expert}) for size in (4, 2))
    assert [(one.path, one.reload) for one in diff_plans(four, two)] == [("parallelism.data", "live")]
    assert not engine_change(four, two).replace
    assert (four.server.elastic_size, two.server.elastic_size) == (4, 2)
    rigid = made(model, "h100x8", parallelism={"data": 2, "expert": {"enabled": True}})
    assert engine_change(two, rigid).replace


def test_variables_that_vllm_ends_at_are_told(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = {"backend": "vllm", "vllm": {"command": ["true"]}}
    tree = {"schema": 1, "name": "a", "release": "0.32", "model": {"source": str(model)}, "engine": engine}
    (tmp_path / "p.yaml").write_text(json.dumps(tree))
    monkeypatch.setenv("VLLM_LOGGING_LEVEL", "INFO")
    assert not validate(tmp_path / "p.yaml").errors
    monkeypatch.setenv("VLLM_SERVICE_HOST", "10.0.0.7")
    [found] = validate(tmp_path / "p.yaml").errors
    assert found.code == "AP0311"
    assert "VLLM_SERVICE_HOST, which vLLM 0.32 does not know" in found.message
    (tmp_path / "p.yaml").write_text(json.dumps(tree | {"engine": {"backend": "native"}}))
    assert not validate(tmp_path / "p.yaml").errors


def test_the_command_is_looked_for_on_this_machine_only(model: Path, tmp_path: Path) -> None:
    engine = {"backend": "vllm", "vllm": {"command": ["no-such-vllm"]}}
    tree = {"schema": 1, "name": "a", "release": "0.32", "model": {"source": str(model)}, "engine": engine}
    (tmp_path / "p.yaml").write_text(json.dumps(tree))
    assert [found.code for found in validate(tmp_path / "p.yaml").errors] == ["AP0310"]
    assert not validate(tmp_path / "p.yaml", offline=True).errors
