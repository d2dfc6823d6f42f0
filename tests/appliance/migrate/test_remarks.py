"""What the report says beside the options: each kind of remark on the smallest file that calls for it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from appliance.migrations.architectures import GONE, gone, named
from appliance.migrations.release import Release

Run = Callable[..., Any]
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
  - image: vllm/vllm-openai:v0.32.0
    args: [Qwen/Qwen2-7B, %s]
"""
STACK = """\
servingEngineSpec:
  modelSpec:
  - name: a
    repository: lmcache/vllm-openai
    tag: "2025-05-27-v1"
    modelURL: org/m
    vllmConfig: {enableChunkedPrefill: false, maxModelLen: 100}
    lmcacheConfig: {enabled: true, kvRole: kv_producer}
    hf_token: <your-hf-token>
"""
RUNTIME = """\
apiVersion: production-stack.vllm.ai/v1alpha1
kind: VLLMRuntime
metadata: {name: a}
spec:
  model: {modelURL: org/m}
  vllmConfig: {tensorParallelSize: 2}
  lmCacheConfig: {enabled: true}
  deploymentConfig: {image: {registry: docker.io, name: "lmcache/vllm-openai:v0.3.13"}}
"""


def told(run: Run, *words: str) -> str:
    return " ".join(run("migrate", *words).out.split())


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.yaml", POD % '--api-key, "sk-1"', "move it into a Secret: env VLLM_API_KEY with valueFrom.secretKeyRef"),
        (
            "compose.yaml",
            "services:\n  a:\n    image: vllm/vllm-openai:v0.32.0\n    command: m --api-key sk-1\n",
            "write VLLM_API_KEY: ${VLLM_API_KEY:?} below environment",
        ),
        ("a.sh", "export HF_TOKEN=hf_123456\nvllm serve m\n", 'export HF_TOKEN="$(cat /run/secrets/HF_TOKEN)"'),
        ("a.env", "HF_TOKEN=hf_123456\n", "keep this file out of version control, with mode 0600"),
        ("values.yaml", STACK, "name a Secret: hf_token: {secretName: NAME, secretKey: KEY}"),
        ("values.yaml", STACK, '{"kv_connector": "LMCacheConnectorV1", "kv_role": "kv_producer"}'),
        ("values.yaml", STACK, "enableChunkedPrefill: false: reaches the engine as --no-enable-chunked-prefill"),
        (
            "values.yaml",
            STACK + STACK.partition("modelSpec:\n")[2],
            "enableChunkedPrefill: false (also in line ",
        ),
        (
            "a.sh",
            "VLLM_SERVER_DEV_MODE=1 vllm serve m --host 127.0.0.1\n",
            "it listens on this machine only: keep it so",
        ),
        ("a.yaml", POD.replace("Pod", "Deployment") % "--swap-space, '4'", "ask /v1/models for the model's name"),
        ("values.yaml", STACK, "pin a build of it that holds vLLM 0.32.0"),
        ("a.sh", "docker run vllm/vllm-openai:v0.8.5 m --enforce-eager\n", "set it to vllm/vllm-openai:v0.32.0"),
        ("a.sh", "vllm serve m --chat-template ./t.jinja\n", "1:14 VM0114 --chat-template ./t.jinja: no such file"),
        ("a.sh", "vllm serve m\n# vllm serve m --swap-space 4 \\\n", "2:3 VM0115 comment: still says --swap-space"),
        ("a.sh", "vllm serve microsoft/Phi-3-small-8k-instruct\n", "is by its name a Phi3SmallForCausalLM"),
        ("a.sh", "vllm serve m\nstart_vllm --swap-space 4\n", "2:12 VM0119 --swap-space: stands where nothing is read"),
        ("a.yaml", "x:\n  vllm: {other: '--swap-space 4'}\n", "but says --swap-space in line 2: look at it yourself"),
        ("a.sh", "vllm serve m $EXTRA_ARGS --port 1\n", "VM0110 $EXTRA_ARGS: holds more options"),
        (
            "a.sh",
            'go() {\n  local args="$1"\n  vllm serve m ${args} --port 1\n}\ngo "--swap-space 4"\n',
            "VM0110 ${args}: holds more options, which are arguments of a call; look through them where it is called",
        ),
        (
            "a.sh",
            "cat > c.yaml <<E\nmax-model-len: 9\ncompilation-config: '$FLAGS'\nE\nvllm serve --config c.yaml\n",
            "3:1 VM0110 --compilation-config $FLAGS: is filled in later, and some of its",
        ),
        ("a.sh", "vllm serve m --port 1 &\nsleep 60\nvllm serve n --port 2\n", "2:1 VM0111 sleep 60: a wait of fixed"),
        ("a.yaml", RUNTIME, "lmCacheConfig: the operator writes --kv-transfer-config"),
        ("a.yaml", RUNTIME, "lmcache/vllm-openai:v0.3.13: counts releases of its own, which do not tell the engine's"),
        (
            "config.yaml",
            "model_metadata:\n  repo_id: org/m\n  vllm_config: {max_model_len: 9, limit_mm_per_prompt: {image: 5}}\n",
            """vllm serve org/m --max-model-len 9 --limit-mm-per-prompt '{"image": 5}'""",
        ),
    ],
)
def test_is_said(run: Run, tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / name).write_text(text)
    assert said in told(run, name)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("vllm serve m --chat-template t.jinja\n", "VM0114"),
        ("vllm serve m\n# vllm serve m --max-model-len 4 is plenty\n", "VM0115"),
        ("# VM1801: --swap-space: gone\nvllm serve m\n", "VM0115"),
        ("vllm serve Qwen/Qwen2.5-7B\n", "VM0116"),
        ("EXTRA_ARGS=(--port 1)\nvllm serve m ${EXTRA_ARGS[@]}\n", "VM0110"),
        ("cat > c.yaml <<E\nmodel: m\nmax-model-len: 9\nE\nvllm serve --config c.yaml\n", "VM0106"),
        ("docker run --device /dev/kfd vllm/vllm-openai:v0.9.0 m --swap-space 4\n# --swap-space\n", "VM0119"),
        ("vllm serve m &\nuntil curl -s localhost:8000/health; do sleep 10; done\n", "VM0111"),
    ],
)
def test_is_not_said(run: Run, tmp_path: Path, text: str, code: str) -> None:
    (tmp_path / "t.jinja").write_text("")
    (tmp_path / "a.sh").write_text(text)
    assert code not in told(run, "a.sh")


def test_a_worker_of_dynamo_is_told_nothing_about_requests(run: Run, tmp_path: Path) -> None:
    options = "--model openai/gpt-oss-20b --tool-call-parser hermes --is-prefill-worker --no-enable-multimodal\n"
    for command in ("dynamo.vllm", "vllm.entrypoints.openai.api_server"):
        (tmp_path / "a.sh").write_text(f"python3 -m {command} {options}")
        said = told(run, "a.sh")
        alone = command == "dynamo.vllm"
        assert "VM2006" in said and "VM1623" in said
        assert [code in said for code in ("VM3220", "VM3221", "VM0031", "VM0035", "VM0001")] == [not alone] * 5


def test_architecture_is_read_where_the_model_lies(run: Run, tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "config.json").write_text(json.dumps({"architectures": ["FuyuForCausalLM"]}))
    (tmp_path / "a.sh").write_text("vllm serve m\n")
    assert "model m: is a FuyuForCausalLM, which the engine served up to 0.25" in told(run, "a.sh")
    assert "FuyuForCausalLM" not in told(run, "--to", "0.24", "a.sh")


def test_names_of_models_lead_to_their_own_architecture() -> None:
    target = Release(0, 32)
    for model, name in (
        ("meta-llama/Llama-3.2-11B-Vision-Instruct", "MllamaForConditionalGeneration"),
        ("baichuan-inc/Baichuan2-13B-Chat", "BaichuanForCausalLM"),
        ("Qwen/Qwen-7B-Chat", "QWenLMHeadModel"),
        ("facebook/bart-large-cnn", "BartForConditionalGeneration"),
        ("mosaicml/mpt-7b", "MPTForCausalLM"),
    ):
        found = named(model, target)
        assert found is not None and found.name == name
    for model in ("Qwen/Qwen2-7B", "meta-llama/Llama-3.2-3B", "Qwen/Qwen2-VL-7B", "internlm/internlm2_5-7b-chat"):
        assert named(model, target) is None
    assert all(gone(one.name, one.last) is None for one in GONE)
