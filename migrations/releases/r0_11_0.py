"""0.11.0: the last switches of the old scheduler."""

from appliance.migrations.rule import Is, Sets, env, option
from appliance.migrations.since import Since

since = Since("0.11.0")

_V0 = "it steered the old engine, which is gone"
_SUFFIXED = (
    *("FLASH_ATTN", "FLASHINFER", "TRITON_ATTN", "TRITON_MLA", "FLASHMLA", "CUTLASS_MLA", "FLASH_ATTN_MLA"),
    *("FLASHINFER_MLA", "ROCM_AITER_MLA"),
)

RULES = (
    since.no_effect(
        "VM1101",
        option("max-seq-len-to-capture"),
        "it limited CUDA graphs by sequence length in the old engine; graphs are captured by batch size now "
        "(--max-cudagraph-capture-size counts tokens of a batch and is no successor)",
        "config/__init__.py:365 in 0.10.2",
        "--max-seq-len-to-capture 8192",
    ),
    *(
        since.no_effect(code, option(name), _V0, evidence, f"--{name} {value}".strip())
        for code, name, value, evidence in (
            ("VM1102", "disable-async-output-proc", "", "engine/arg_utils.py:551,1457 in 0.10.2"),
            ("VM1103", "preemption-mode", "recompute", "config/scheduler.py:110 in 0.10.2"),
            ("VM1104", "scheduler-delay-factor", "0.5", "config/scheduler.py:85 in 0.10.2"),
        )
    ),
    *(
        since.no_effect(code, env(name), why, evidence, f"{name}=1")
        for code, name, why, evidence in (
            ("VM1105", "VLLM_GPT_OSS_USE_CONTAINER_TOOL", "tools are named by --tool-server", "envs.py:1234 in 0.10.2"),
            ("VM1106", "VLLM_TEST_DYNAMO_FULLGRAPH_CAPTURE", "a test switch of the compiler", "envs.py:383 in 0.10.2"),
        )
    ),
    since.value(
        "VM1140",
        env("VLLM_ATTENTION_BACKEND"),
        {f"{name}_VLLM_V1": name for name in _SUFFIXED},
        Is(tuple(f"{name}_VLLM_V1" for name in _SUFFIXED)),
        "with one engine left, its backends bear no suffix any more",
        "platforms/interface.py:43-69 in 0.10.2, :40-63 in 0.11.0",
        "VLLM_ATTENTION_BACKEND=FLASHINFER_VLLM_V1",
        "VLLM_ATTENTION_BACKEND=FLASHINFER",
    ),
    since.default(
        "VM1107",
        env("VLLM_ALL2ALL_BACKEND"),
        "expert-parallel traffic uses allgather_reducescatter instead of naive",
        "envs.py:1065 in 0.10.2, :1240 in 0.11.0",
        Sets(option("enable-expert-parallel")),
        before="--enable-expert-parallel",
    ),
    since.default(
        "VM1108",
        env("VLLM_USE_DEEP_GEMM"),
        "DeepGEMM kernels are used for FP8 mixture-of-experts models where they are installed",
        "envs.py:980 in 0.10.2, :1148 in 0.11.0",
        Sets(option("quantization"), Is(("fp8",))),
        before="--quantization fp8",
    ),
    since.default(
        "VM1109",
        env("VLLM_ALLREDUCE_USE_SYMM_MEM"),
        "tensor-parallel sums use PyTorch's symmetric memory where the GPUs allow it",
        "envs.py:1226 in 0.10.2 (false), :1410 in 0.11.0 (true)",
        Sets(option("tensor-parallel-size")),
        before="--tensor-parallel-size 4",
    ),
)
