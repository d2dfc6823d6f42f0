"""0.20 (read in 0.20.2)."""

from appliance.migrations.rule import Is, Lacks, env, option
from appliance.migrations.since import Since

since = Since("0.20.2")

RULES = (
    *(
        since.gone(
            code, env(name), "data-parallel experts are not computed in chunks any more", evidence, f"{name}={value}"
        )
        for code, name, value, evidence in (
            ("VM2001", "VLLM_ENABLE_MOE_DP_CHUNK", "0", "envs.py:1110 in 0.19.1"),
            ("VM2002", "VLLM_MOE_DP_CHUNK_SIZE", "256", "envs.py:1109 in 0.19.1"),
        )
    ),
    since.renamed(
        "VM2003",
        option("compilation-config", "encoder_cudagraph_max_images_per_batch"),
        option("compilation-config", "encoder_cudagraph_max_vision_items_per_batch"),
        "videos count too",
        "config/compilation.py:511 in 0.19.1; same default in 0.20.2",
        """--compilation-config '{"encoder_cudagraph_max_images_per_batch": 4}'""",
        """--compilation-config '{"encoder_cudagraph_max_vision_items_per_batch": 4}'""",
    ),
    since.gone(
        "VM2004",
        option("speculative-config", "synthetic_acceptance_rate"),
        "the test setting is given as synthetic_acceptance_rates (a list) or synthetic_acceptance_length",
        "config/speculative.py:187 in 0.19.1",
        """--speculative-config '{"synthetic_acceptance_rate": 0.7}'""",
    ),
    since.ask(
        "VM2005",
        option("quantization"),
        "this weight format is not supported any more",
        "config/model.py:197 in 0.19.1, :199 in 0.20.2",
        "--quantization petit_nvfp4",
        match=Is(("petit_nvfp4",)),
        advice="use a checkpoint in another format",
    ),
    since.default(
        "VM2007",
        env("VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS"),
        "memory for CUDA graphs is set aside before the KV cache is sized, so the cache is smaller and start-up safer",
        "envs.py in 0.19.1 (false) and 0.20.2 (true)",
        Lacks(option("enforce-eager")),
        before="--max-model-len 4096",
    ),
    since.default(
        "VM2006",
        option("gpu-memory-utilization"),
        "the engine takes 0.92 of the GPU's memory instead of 0.9; a neighbour on the same card may not fit any more",
        "config/cache.py:41 in 0.19.1, :66 in 0.20.2",
        Lacks(option("kv-cache-memory-bytes")),
        before="--max-model-len 4096",
    ),
)
