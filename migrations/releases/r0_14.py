"""0.14 (read in 0.14.1)."""

from appliance.migrations.rule import Is, Lacks, ModelLike, Sets, env, option
from appliance.migrations.since import Since

since = Since("0.14.1")

_PALLAS = "the TPU backend lives in a plugin (tpu-inference) now"

RULES = (
    *(
        since.gone(
            code,
            target,
            _PALLAS,
            "config/attention.py:21 in 0.13.0 and 0.14.1",
            before,
            match=Is(("PALLAS",)),
            advice="on TPUs install the plugin; elsewhere the engine chooses a backend",
        )
        for code, target, before in (
            ("VM1401", option("attention-backend"), "--attention-backend PALLAS"),
            ("VM1402", option("mm-encoder-attn-backend"), "--mm-encoder-attn-backend PALLAS"),
            ("VM1403", option("attention-config", "backend"), """--attention-config '{"backend": "PALLAS"}'"""),
            ("VM1404", env("VLLM_ATTENTION_BACKEND"), "VLLM_ATTENTION_BACKEND=PALLAS"),
        )
    ),
    since.ask(
        "VM1405",
        option("quantization"),
        "this weight format is not supported any more",
        "config/model.py:178 in 0.13.0, :189 in 0.14.1",
        "--quantization cpu_gptq",
        match=Is(("cpu_gptq", "tpu_int8")),
        advice="GPTQ checkpoints load as gptq on CPUs; TPU formats belong to the TPU plugin",
    ),
    since.value(
        "VM1406",
        env("VLLM_FLOAT32_MATMUL_PRECISION"),
        {"ieee": "highest", "tf32": "high"},
        Is(("ieee", "tf32")),
        "the values are PyTorch's own names",
        "envs.py:463 in 0.13.0, :474 in 0.14.1",
        "VLLM_FLOAT32_MATMUL_PRECISION=tf32",
        "VLLM_FLOAT32_MATMUL_PRECISION=high",
    ),
    since.default(
        "VM1407",
        option("async-scheduling"),
        "scheduling overlaps with the GPU wherever the features in use allow it; --no-async-scheduling keeps the "
        "old way",
        "config/scheduler.py:133 in 0.13.0 (false), in 0.14.1 (none: automatic)",
        before="--max-model-len 4096",
    ),
    since.default(
        "VM1408",
        option("kv-offloading-backend"),
        "--kv-offloading-size alone switches on the native backend",
        "config/cache.py:157 in 0.13.0, :158 in 0.14.1",
        Sets(option("kv-offloading-size")),
        before="--kv-offloading-size 8",
    ),
    since.default(
        "VM1409",
        env("VLLM_ALLOW_CHUNKED_LOCAL_ATTN_WITH_HYBRID_KV_CACHE"),
        "models with chunked local attention keep the hybrid KV cache",
        "envs.py:1432 in 0.13.0, :1468 in 0.14.1",
        Lacks(option("disable-hybrid-kv-cache-manager")),
        ModelLike(r"llama-?4"),
        before="meta-llama/Llama-4-Scout",
    ),
)
