"""0.11.1 (read in 0.11.2): the old engine is gone, and with it its switches."""

from appliance.migrations.rule import Is, Like, ModelLike, Nature, Put, Room, Sets, env, option
from appliance.migrations.since import Since

since = Since("0.11.2")

_ROPE_EVIDENCE = "config/model.py:150-153 in 0.11.0; transformers_utils/config.py:675-677 in 0.11.2"
_COMPILE = "compilation-config"

# TORCH_SDPA is still listed, but for encoders of pictures only: as a model's backend it stops the start.
_OLD_BACKENDS = (
    *("TORCH_SDPA", "TORCH_SDPA_VLLM_V1", "XFORMERS_VLLM_V1", "ROCM_FLASH", "HPU_ATTN", "OPENVINO", "PALLAS_VLLM_V1"),
    *("BLOCK_SPARSE_FLASH_ATTN", "DUAL_CHUNK_FLASH_ATTN", "DIFFERENTIAL_FLASH_ATTN"),
)

RULES = (
    since.gone(
        "VM1141",
        env("VLLM_ATTENTION_BACKEND"),
        "this backend belonged to the old engine or to another platform; the engine chooses one that fits",
        "platforms/interface.py:45-57 in 0.11.0; attention/backends/registry.py:29-90 in 0.11.2",
        "VLLM_ATTENTION_BACKEND=TORCH_SDPA",
        match=Is(_OLD_BACKENDS),
        advice="name another backend only if you measured it",
    ),
    since.no_effect(
        "VM1111",
        env("VLLM_USE_V1"),
        "there is only the V1 engine",
        "envs.py:900 in 0.11.0; no mention left in 0.11.2",
        "VLLM_USE_V1=1",
        match=Is((True,)),
    ),
    since.gone(
        "VM1112",
        env("VLLM_USE_V1"),
        "the V0 engine that this asks for does not exist any more; the deployment runs on V1, with other memory "
        "use and "
        "without V0-only features",
        "envs.py:751 in 0.10.2; engine/arg_utils.py:1144-1156 in 0.11.0; no mention left in 0.11.2",
        "VLLM_USE_V1=0",
        advice="test the deployment on V1 before relying on it",
    ),
    since.gone(
        "VM1113",
        option("enable-lora-bias"),
        "bias terms of LoRA adapters are not applied any more",
        "config/lora.py:62 in 0.11.0",
        "--enable-lora-bias",
        advice="retrain adapters that use a bias",
    ),
    since.renamed(
        "VM1114",
        option("rope-scaling"),
        option("hf-overrides", "rope_scaling"),
        "RoPE settings are overrides of the model's own config",
        _ROPE_EVIDENCE,
        """--rope-scaling '{"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}'""",
        """--hf-overrides '{"rope_scaling": {"rope_type": "yarn", "factor": 4.0, """
        """"original_max_position_embeddings": 32768}}'""",
        nature=Nature.MOVED,
        convert="rope",
    ),
    since.renamed(
        "VM1115",
        option("rope-theta"),
        option("hf-overrides", "rope_theta"),
        "RoPE settings are overrides of the model's own config",
        _ROPE_EVIDENCE,
        "--rope-theta 1000000",
        "--hf-overrides.rope_theta 1000000",
        nature=Nature.MOVED,
        convert="number",
    ),
    since.renamed(
        "VM1116",
        option(_COMPILE, "full_cuda_graph"),
        option(_COMPILE, "cudagraph_mode"),
        "one mode says which CUDA graphs are captured",
        "config/compilation.py:291,474 in 0.11.0",
        """--compilation-config '{"full_cuda_graph": true}'""",
        """--compilation-config '{"cudagraph_mode": "FULL"}'""",
        values={True: "FULL", False: None},
    ),
    since.renamed(
        "VM1117",
        option(_COMPILE, "use_cudagraph"),
        option(_COMPILE, "cudagraph_mode"),
        "one mode says which CUDA graphs are captured",
        "config/compilation.py:261,465 in 0.11.0",
        """--compilation-config '{"use_cudagraph": false}'""",
        """--compilation-config '{"cudagraph_mode": "NONE"}'""",
        values={False: "NONE", True: None},
    ),
    since.gone(
        "VM1118",
        option(_COMPILE, "pass_config.fi_allreduce_fusion_max_token_num"),
        "the limit is given in MB now, not in tokens: fi_allreduce_fusion_max_size_mb",
        "config/compilation.py:89 in 0.11.0, :115 in 0.11.2",
        "--compilation-config.pass_config.fi_allreduce_fusion_max_token_num 1024",
        advice="measure before setting fi_allreduce_fusion_max_size_mb; the default depends on the number of GPUs",
    ),
    since.puts(
        "VM1119",
        option("cuda-graph-sizes"),
        (Put(option("max-cudagraph-capture-size"), convert="single"),),
        "one size meant the largest batch of a pattern; that has an option of its own, while one size in the "
        "list would capture "
        "that batch alone",
        "config/scheduler.py:72-78 in 0.11.0; engine/arg_utils.py:1114-1126 in 0.11.2",
        "--cuda-graph-sizes 256",
        "--max-cudagraph-capture-size 256",
        match=Like(r'(\["?\d+"?\]|\d+)$'),
    ),
    since.moved(
        "VM1120",
        env("VLLM_DISABLE_NCCL_FOR_DP_SYNCHRONIZATION"),
        option("disable-nccl-for-dp-synchronization"),
        "the switch became an option",
        "envs.py:894 in 0.11.0; config/parallel.py in 0.11.2",
        "VLLM_DISABLE_NCCL_FOR_DP_SYNCHRONIZATION=1",
        "--disable-nccl-for-dp-synchronization",
    ),
    *(
        since.renamed(code, env(old), env(new), "the variable has a prefix now", evidence, f"{old}=1", f"{new}=1")
        for code, old, new, evidence in (
            (
                "VM1121",
                "VLLM_USE_AITER_UNIFIED_ATTENTION",
                "VLLM_ROCM_USE_AITER_UNIFIED_ATTENTION",
                "envs.py:496 in 0.11.0",
            ),
            ("VM1122", "VLLM_ROCM_USE_TRITON_ROPE", "VLLM_ROCM_USE_AITER_TRITON_ROPE", "envs.py:953 in 0.11.0"),
            (
                "VM1123",
                "GPT_OSS_SYSTEM_TOOL_MCP_LABELS",
                "VLLM_GPT_OSS_SYSTEM_TOOL_MCP_LABELS",
                "envs.py:1452 in 0.11.0",
            ),
        )
    ),
    since.renamed(
        "VM1124",
        env("VLLM_SKIP_DEEP_GEMM_WARMUP"),
        env("VLLM_DEEP_GEMM_WARMUP"),
        "the warm-up has three degrees now",
        "envs.py:1163 in 0.11.0",
        "VLLM_SKIP_DEEP_GEMM_WARMUP=1",
        "VLLM_DEEP_GEMM_WARMUP=skip",
        values={True: "skip", False: None},
    ),
    since.gone(
        "VM1125",
        env("VLLM_USE_TRTLLM_FP4_GEMM"),
        "the FP4 kernel is chosen by --linear-backend",
        "envs.py:1357 in 0.11.0, VLLM_NVFP4_GEMM_BACKEND in 0.11.2, --linear-backend since 0.24",
        "VLLM_USE_TRTLLM_FP4_GEMM=1",
        advice="leave the choice to the engine, or set --linear-backend",
    ),
    *(
        since.no_effect(code, env(name), why, evidence, f"{name}={value}")
        for code, name, value, why, evidence in (
            ("VM1126", "VLLM_LOGITS_PROCESSOR_THREADS", "4", "nothing read it any more", "envs.py:585 in 0.11.0"),
            ("VM1127", "VLLM_V0_USE_OUTLINES_CACHE", "1", "nothing read it any more", "envs.py:1126 in 0.11.0"),
            ("VM1128", "VLLM_USE_RAY_SPMD_WORKER", "1", "the executor always works that way", "envs.py:657 in 0.11.0"),
            ("VM1129", "VLLM_USE_RAY_COMPILED_DAG", "1", "the executor always works that way", "envs.py:666 in 0.11.0"),
        )
    ),
    *(
        since.gone(code, env(name), why, evidence, f"{name}={value}")
        for code, name, value, why, evidence in (
            (
                "VM1130",
                "VLLM_USE_TRITON_FLASH_ATTN",
                "0",
                "the switch for ROCm's Triton attention is gone; --attention-backend chooses",
                "envs.py:484 in 0.11.0",
            ),
            (
                "VM1131",
                "VLLM_DISABLE_PAD_FOR_CUDAGRAPH",
                "1",
                "batches are always padded to a captured size",
                "envs.py:1369 in 0.11.0",
            ),
            (
                "VM1132",
                "VLLM_USE_DEEP_GEMM_E8M0_HOPPER",
                "1",
                "VLLM_USE_DEEP_GEMM_E8M0 covers all devices",
                "envs.py:1156 in 0.11.0",
            ),
        )
    ),
    *(
        since.gone(
            code, option("speculative-config", key), why, evidence, f"""--speculative-config '{{"{key}": {value}}}'"""
        )
        for code, key, value, why, evidence in (
            (
                "VM1133",
                "disable_log_stats",
                "false",
                "the engine's own option rules",
                "config/speculative.py:116 in 0.11.0",
            ),
            (
                "VM1134",
                "enable_chunked_prefill",
                "true",
                "the engine's own option rules",
                "config/speculative.py:113 in 0.11.0",
            ),
        )
    ),
    since.no_effect(
        "VM1135",
        option("speculative-config", "disable_logprobs"),
        "log-probabilities are returned as each request asks; nothing read the key",
        "config/speculative.py:64 in 0.11.0",
        """--speculative-config '{"disable_logprobs": true}'""",
    ),
    since.default(
        "VM1136",
        env("VLLM_NIXL_SIDE_CHANNEL_PORT"),
        "the NIXL side channel listens on 5600 instead of 5557",
        "envs.py:1228 in 0.11.0, :1213 in 0.11.2",
        Sets(option("kv-transfer-config", "kv_connector"), Like("(?i)nixl")),
        before="""--kv-transfer-config '{"kv_connector": "NixlConnector", "kv_role": "kv_both"}'""",
    ),
    since.default(
        "VM1137",
        env("VLLM_FLASHINFER_MOE_BACKEND"),
        "FlashInfer mixture-of-experts kernels favour latency over throughput",
        "envs.py:1255 in 0.11.0, :1244 in 0.11.2",
        Sets(env("VLLM_USE_FLASHINFER_MOE_FP8")),
        before="VLLM_USE_FLASHINFER_MOE_FP8=1",
    ),
    since.default(
        "VM1138",
        option("ignore-patterns"),
        "files below original/ in a model repository are not loaded",
        "config/load.py:70 in 0.11.0 (none), :75 in 0.11.2",
        ModelLike("llama"),
        before="meta-llama/Llama-3.1-8B-Instruct",
    ),
    since.clients(
        "VM1139",
        Nature.PLATFORM,
        Room.PLATFORM,
        "python",
        "Python 3.9 is not supported any more; 3.10 or newer",
        "Requires-Python in 0.11.0 (>=3.9) and 0.11.2 (>=3.10)",
    ),
)
