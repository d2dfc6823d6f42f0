"""0.31.0."""

from appliance.migrations.rule import Is, env, option
from appliance.migrations.since import Since

since = Since("0.31.0")

RULES = (
    since.renamed(
        "VM3101",
        option("enable-mamba-fine-grained-prefix-cache"),
        option("enable-mamba-shared-prefix-checkpoint"),
        "the same feature under another name",
        "config/cache.py:187 in 0.30.0, :199 in 0.31.0",
        "--enable-mamba-fine-grained-prefix-cache",
        "--enable-mamba-shared-prefix-checkpoint",
    ),
    since.renamed(
        "VM3102",
        env("VLLM_KIMI_K3_GEMM_RS"),
        env("VLLM_ENABLE_GEMM_RS"),
        "the switch covers more models",
        "envs.py:1604 in 0.30.0, :1654 in 0.31.0",
        "VLLM_KIMI_K3_GEMM_RS=1",
        "VLLM_ENABLE_GEMM_RS=1",
    ),
    since.moved(
        "VM3103",
        env("VLLM_PLE_CPU_OFFLOAD"),
        option("engram-config", "cpu_offload"),
        "the switch is a key of --engram-config; the variable is ignored",
        "envs.py:2047 and config/engram.py:27,46 in 0.30.0",
        "VLLM_PLE_CPU_OFFLOAD=1",
        "--engram-config.cpu_offload true",
    ),
    since.renamed(
        "VM3104",
        env("VLLM_ROCM_USE_AITER_MOE_SITUV2_A8W4"),
        env("VLLM_ROCM_USE_AITER_MOE_SITUV2"),
        "the switch became a choice of formats",
        "envs.py:1258 in 0.30.0, :144 in 0.31.0",
        "VLLM_ROCM_USE_AITER_MOE_SITUV2_A8W4=1",
        "VLLM_ROCM_USE_AITER_MOE_SITUV2=a8w4",
        values={True: "a8w4", False: None},
    ),
    since.gone(
        "VM3105",
        env("VLLM_XPU_ENABLE_XPU_GRAPH"),
        "graphs are captured on XPUs wherever PyTorch supports it",
        "envs.py:2113 in 0.30.0",
        "VLLM_XPU_ENABLE_XPU_GRAPH=1",
    ),
    since.value(
        "VM3106",
        option("tokenizer-mode"),
        {"slow": "hf"},
        Is(("slow",)),
        "Python tokenizers cannot be asked for any more; token ids may differ",
        "config/model.py:145 in 0.30.0, :144 in 0.31.0",
        "--tokenizer-mode slow",
        "--tokenizer-mode hf",
        safe=False,
    ),
)
