"""0.30.0: more variables became options."""

from appliance.migrations.rule import env, option
from appliance.migrations.since import Since

since = Since("0.30.0")

RULES = (
    since.gone(
        "VM3001",
        option("enable-bf16x3-router-gemm"),
        "the experimental router kernel is gone",
        "config/kernel.py:232 in 0.29.0",
        "--enable-bf16x3-router-gemm",
    ),
    since.gone(
        "VM3006",
        option("kernel-config", "enable_bf16x3_router_gemm"),
        "the experimental router kernel is gone",
        "config/kernel.py:232 in 0.29.0",
        """--kernel-config '{"enable_bf16x3_router_gemm": true}'""",
    ),
    since.moved(
        "VM3002",
        env("VLLM_MM_HASHER_ALGORITHM"),
        option("mm-hasher-algorithm"),
        "the hash of media is chosen by an option; the variable is ignored",
        "envs.py:1053 and config/multimodal.py:167 in 0.29.0",
        "VLLM_MM_HASHER_ALGORITHM=sha256",
        "--mm-hasher-algorithm sha256",
    ),
    since.moved(
        "VM3003",
        env("VLLM_PREFIX_CACHE_RETENTION_INTERVAL"),
        option("prefix-cache-retention-interval"),
        "the interval is an option; the variable is ignored",
        "envs.py:1150 and config/cache.py:156 in 0.29.0",
        "VLLM_PREFIX_CACHE_RETENTION_INTERVAL=64",
        "--prefix-cache-retention-interval 64",
    ),
    since.gone(
        "VM3004",
        env("VLLM_NIXL_EP_MAX_NUM_RANKS"),
        "the bound follows from --elastic-ep-max-dp-size (ranks = tensor x context parallel size x this)",
        "envs.py:2109 in 0.29.0; all2all.py:422-429 in 0.30.0",
        "VLLM_NIXL_EP_MAX_NUM_RANKS=32",
        advice="set --elastic-ep-max-dp-size",
    ),
    since.renamed(
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
