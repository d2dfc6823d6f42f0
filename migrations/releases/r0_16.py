"""0.16.0: the profiler's variables became options, the pooler has one switch for its activation."""

from appliance.migrations.rule import Is, Nature, Put, Room, Sets, env, option
from appliance.migrations.since import Since, put

since = Since("0.16.0")

_PROFILER = "config/profiler.py:138-186 in 0.15.1 (deprecated, read into this field)"
_POOLER = "config/pooler.py in 0.11.2, 0.14.1 and 0.15.1 (deprecated, names the successor)"

RULES = (
    since.moved(
        "VM1601",
        env("VLLM_ALL2ALL_BACKEND"),
        option("all2all-backend"),
        "the expert-parallel backend is an option; the variable is ignored without an error",
        "envs.py:1296 in 0.14.1, :1312 in 0.15.1",
        "VLLM_ALL2ALL_BACKEND=deepep_low_latency",
        "--all2all-backend deepep_low_latency",
    ),
    since.puts(
        "VM1602",
        env("VLLM_TORCH_PROFILER_DIR"),
        (
            put(option("profiler-config", "profiler"), "torch"),
            Put(option("profiler-config", "torch_profiler_dir")),
        ),
        "profiling is configured by options; the variable is ignored",
        _PROFILER,
        "VLLM_TORCH_PROFILER_DIR=/tmp/traces",
        "--profiler-config.profiler torch --profiler-config.torch_profiler_dir /tmp/traces",
        nature=Nature.MOVED,
    ),
    since.renamed(
        "VM1603",
        env("VLLM_TORCH_CUDA_PROFILE"),
        option("profiler-config", "profiler"),
        "profiling is configured by options; the variable is ignored",
        _PROFILER,
        "VLLM_TORCH_CUDA_PROFILE=1",
        "--profiler-config.profiler cuda",
        values={True: "cuda", False: None},
        nature=Nature.MOVED,
    ),
    *(
        since.moved(
            code,
            env(f"VLLM_{name}"),
            option("profiler-config", key),
            "profiling is configured by options; the variable is ignored",
            _PROFILER,
            f"VLLM_{name}={value}",
            f"--profiler-config.{key} {written}",
        )
        for code, name, key, value, written in (
            ("VM1604", "TORCH_PROFILER_RECORD_SHAPES", "torch_profiler_record_shapes", "1", "true"),
            ("VM1605", "TORCH_PROFILER_WITH_PROFILE_MEMORY", "torch_profiler_with_memory", "1", "true"),
            ("VM1606", "TORCH_PROFILER_WITH_STACK", "torch_profiler_with_stack", "0", "false"),
            ("VM1607", "TORCH_PROFILER_WITH_FLOPS", "torch_profiler_with_flops", "1", "true"),
            ("VM1608", "TORCH_PROFILER_DISABLE_ASYNC_LLM", "ignore_frontend", "1", "true"),
            ("VM1609", "TORCH_PROFILER_USE_GZIP", "torch_profiler_use_gzip", "0", "false"),
            ("VM1610", "TORCH_PROFILER_DUMP_CUDA_TIME_TOTAL", "torch_profiler_dump_cuda_time_total", "0", "false"),
            ("VM1611", "PROFILER_DELAY_ITERS", "delay_iterations", "10", "10"),
            ("VM1612", "PROFILER_MAX_ITERS", "max_iterations", "10", "10"),
        )
    ),
    *(
        since.renamed(
            code,
            option("pooler-config", key),
            option("pooler-config", "use_activation"),
            "one key says whether the pooler's activation is applied",
            _POOLER,
            f"""--pooler-config '{{"{key}": false}}'""",
            """--pooler-config '{"use_activation": false}'""",
        )
        for code, key in (("VM1613", "activation"), ("VM1614", "normalize"), ("VM1615", "softmax"))
    ),
    *(
        since.gone(
            code,
            target,
            "the IPEX backend is gone; XPU attention is built in",
            "config/attention.py:18 in 0.15.1, :16 in 0.16.0",
            before,
            match=Is(("IPEX",)),
            advice="name another backend only if you measured it",
        )
        for code, target, before in (
            ("VM1616", option("attention-backend"), "--attention-backend IPEX"),
            ("VM1617", option("mm-encoder-attn-backend"), "--mm-encoder-attn-backend IPEX"),
            ("VM1618", option("attention-config", "backend"), """--attention-config '{"backend": "IPEX"}'"""),
        )
    ),
    since.puts(
        "VM1619",
        option("convert"),
        (put(option("mm-encoder-only"), True),),
        "serving only the encoder is a switch of its own",
        "config/model.py:116 in 0.15.1, :114 in 0.16.0; --mm-encoder-only since 0.15.1",
        "--convert mm_encoder_only",
        "--mm-encoder-only",
        match=Is(("mm_encoder_only",)),
    ),
    since.gone(
        "VM1620",
        option("convert"),
        "models are not converted to reward models any more (the engine's own hint still names the value)",
        "config/model.py:77-79,114 in 0.16.0; utils/argparse_utils.py:142-156 in 0.32.0",
        "--convert reward",
        match=Is(("reward",)),
        advice="serve a model whose architecture is a reward model, with --runner pooling",
    ),
    since.ask(
        "VM1621",
        option("quantization"),
        "this weight format is not supported any more",
        "config/model.py:189 in 0.15.1, :187 in 0.16.0",
        "--quantization bitblas",
        match=Is(("bitblas", "gptq_bitblas", "gptq_marlin_24", "ipex")),
        advice="use a checkpoint in another format",
    ),
    since.clients(
        "VM1622",
        Nature.STREAM,
        Room.STREAM,
        "reasoning_content",
        "messages and deltas carry the reasoning in `reasoning` only; the old name was sent beside it up to 0.15",
        "openai/protocol.py:2215-2222 in 0.11.2; entrypoints/openai/engine/protocol.py:260 in 0.15.1",
        Sets(option("reasoning-parser")),
        before="--reasoning-parser qwen3",
    ),
    since.clients(
        "VM1623",
        Nature.METRIC,
        Room.METRIC,
        "vllm:time_per_output_token_seconds",
        "it is called vllm:inter_token_latency_seconds since 0.15; dashboards and autoscalers go blind",
        "v1/metrics/loggers.py:723 in 0.14.1",
    ),
    since.meaning(
        "VM1624",
        option("compilation-config"),
        "unknown keys in nested options stop the start; before, most of them were ignored without a word",
        "config/utils.py:35-48 in 0.15.1, :70-71 in 0.31.0",
        Sets(option("compilation-config")),
        before="""--compilation-config '{"mode": 3}'""",
    ),
)
