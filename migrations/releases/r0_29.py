"""0.29.0 and 0.30.0."""

from appliance.migrations.rule import Sets, env, option
from appliance.migrations.since import Since

_29 = Since("0.29.0")
_30 = Since("0.30.0")

RULES = (
    *(
        _29.gone(code, env(name), why, evidence, f"{name}=1")
        for code, name, why, evidence in (
            (
                "VM2901",
                "VLLM_ROCM_USE_AITER_FP4_ASM_GEMM",
                "the switch for AITER's assembly kernel is gone; it came back in a later release",
                "envs.py:1313 in 0.28.0",
            ),
            (
                "VM2902",
                "VLLM_TEST_FORCE_FP8_MARLIN",
                "kernels for linear layers are chosen by --linear-backend",
                "envs.py:1097 in 0.28.0",
            ),
        )
    ),
    _29.renamed(
        "VM2903",
        env("VLLM_TRITON_ATTN_USE_TD"),
        env("VLLM_TRITON_USE_TD"),
        "the switch covers more than attention",
        "envs.py:643 in 0.28.0",
        "VLLM_TRITON_ATTN_USE_TD=1",
        "VLLM_TRITON_USE_TD=1",
    ),
    _29.no_effect(
        "VM2904",
        option("attention-config", "use_prefill_decode_attention"),
        "nothing read it since 0.20; the ROCm backend is chosen by --attention-backend",
        "config/attention.py:45 in 0.28.0; last reader platforms/rocm.py in 0.18.1",
        """--attention-config '{"use_prefill_decode_attention": true}'""",
    ),
    _29.default(
        "VM2905",
        env("VLLM_ALLREDUCE_USE_FLASHINFER"),
        "tensor-parallel sums use FlashInfer's kernels where they are installed",
        "envs.py:1864 in 0.28.0 (false) and 0.29.0 (true)",
        Sets(option("tensor-parallel-size")),
        before="--tensor-parallel-size 4",
    ),
    _30.gone(
        "VM3001",
        option("enable-bf16x3-router-gemm"),
        "the experimental router kernel is gone",
        "config/kernel.py:232 in 0.29.0",
        "--enable-bf16x3-router-gemm",
    ),
    _30.gone(
        "VM3006",
        option("kernel-config", "enable_bf16x3_router_gemm"),
        "the experimental router kernel is gone",
        "config/kernel.py:232 in 0.29.0",
        """--kernel-config '{"enable_bf16x3_router_gemm": true}'""",
    ),
    _30.moved(
        "VM3002",
        env("VLLM_MM_HASHER_ALGORITHM"),
        option("mm-hasher-algorithm"),
        "the hash of media is chosen by an option; the variable is ignored",
        "envs.py:1053 and config/multimodal.py:167 in 0.29.0",
        "VLLM_MM_HASHER_ALGORITHM=sha256",
        "--mm-hasher-algorithm sha256",
    ),
    _30.moved(
        "VM3003",
        env("VLLM_PREFIX_CACHE_RETENTION_INTERVAL"),
        option("prefix-cache-retention-interval"),
        "the interval is an option; the variable is ignored",
        "envs.py:1150 and config/cache.py:156 in 0.29.0",
        "VLLM_PREFIX_CACHE_RETENTION_INTERVAL=64",
        "--prefix-cache-retention-interval 64",
    ),
    _30.gone(
        "VM3004",
        env("VLLM_NIXL_EP_MAX_NUM_RANKS"),
        "the bound follows from --elastic-ep-max-dp-size (ranks = tensor x context parallel size x this)",
        "envs.py:2109 in 0.29.0; all2all.py:422-429 in 0.30.0",
        "VLLM_NIXL_EP_MAX_NUM_RANKS=32",
        advice="set --elastic-ep-max-dp-size",
    ),
    _30.renamed(
        "VM3005",
        option("attention-config", "use_fp4_indexer_cache"),
        option("attention-config", "indexer_kv_dtype"),
        "the indexer's cache has a dtype",
        "config/attention.py:67-135 in 0.28.0 and 0.29.0",
        """--attention-config '{"use_fp4_indexer_cache": true}'""",
        """--attention-config '{"indexer_kv_dtype": "mxfp4"}'""",
        values={True: "mxfp4", False: None},
    ),
)
