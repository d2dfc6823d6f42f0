"""0.33.0."""

from appliance.migrations.rule import VISION, Is, ModelLike, Nature, Room, Sets, env, option
from appliance.migrations.since import Since

since = Since("0.33.0")

_RAY = "the compiled-graph Ray executor is gone; the message-queue executor, the default since 0.21, is the only one"

RULES = (
    since.no_effect(
        "VM3301",
        option("mamba-cache-mode"),
        "the option is a no-op with a warning: the mode follows --enable-prefix-caching",
        "engine/arg_utils.py:462-465,1436-1443,2304 in 0.33.0",
        "--mamba-cache-mode align",
    ),
    *(
        since.ask(
            code,
            target,
            "this kind of drafter is gone",
            "config/speculative.py:399 in 0.32.0, :419 in 0.33.0; registry of 0.33.0",
            before,
            match=Is(("medusa", "mlp_speculator")),
            advice="use another drafter (eagle3, mtp, ngram), or serve without speculation",
        )
        for code, target, before in (
            ("VM3302", option("spec-method"), "--spec-method medusa"),
            ("VM3303", option("speculative-config", "method"), """--speculative-config '{"method": "medusa"}'"""),
        )
    ),
    *(
        since.no_effect(code, env(name), _RAY, f"envs.py:{line} in 0.32.0", f"{name}=1")
        for code, name, line in (
            ("VM3304", "VLLM_USE_RAY_COMPILED_DAG_CHANNEL_TYPE", 923),
            ("VM3305", "VLLM_USE_RAY_COMPILED_DAG_OVERLAP_COMM", 928),
            ("VM3306", "VLLM_USE_RAY_WRAPPED_PP_COMM", 934),
        )
    ),
    since.no_effect(
        "VM3307",
        env("VLLM_USE_RAY_V2_EXECUTOR_BACKEND"),
        _RAY,
        "envs.py:944 in 0.32.0",
        "VLLM_USE_RAY_V2_EXECUTOR_BACKEND=1",
        match=Is((True,)),
    ),
    since.gone(
        "VM3308",
        env("VLLM_USE_RAY_V2_EXECUTOR_BACKEND"),
        _RAY,
        "envs.py:944 in 0.32.0",
        "VLLM_USE_RAY_V2_EXECUTOR_BACKEND=0",
        advice="test the deployment on the new executor",
    ),
    since.gone(
        "VM3309",
        env("VLLM_ROCM_MONO_DECODE"),
        "the single-kernel decode is asked for by --monokernel, which refuses to start where it cannot run",
        "envs.py:1404 in 0.32.0; models/deepseek_v41/amd/mono_decode.py:3 in both; config/kernel.py:299 in 0.33.0",
        "VLLM_ROCM_MONO_DECODE=1",
        advice="set --monokernel where the model and GPU support it",
    ),
    *(
        since.gone(
            code, env(name), "the switch is gone and has no successor", f"envs.py:{line} in 0.32.0", f"{name}={value}"
        )
        for code, name, value, line in (
            ("VM3310", "VLLM_ROCM_AITER_MLA_DCP_VERIFY", "segmented", 1331),
            ("VM3311", "VLLM_ROCM_AITER_MEGA_MOE_FUSE_SHARED_EXPERTS", "1", 1397),
            ("VM3312", "VLLM_ROCM_USE_AITER_FP4_ASM_GEMM", "1", 1358),
        )
    ),
    *(
        since.default(
            code,
            env(name),
            "weights are not quantised again for AITER's batched products; 1 keeps the old way",
            evidence,
            Sets(env("VLLM_ROCM_USE_AITER"), Is((True,))),
            before="VLLM_ROCM_USE_AITER=1",
        )
        for code, name, evidence in (
            ("VM3313", "VLLM_ROCM_USE_AITER_FP8BMM", "envs.py:1376 in 0.32.0, :1369 in 0.33.0"),
            ("VM3314", "VLLM_ROCM_USE_AITER_FP4BMM", "envs.py:1381 in 0.32.0, :1374 in 0.33.0"),
        )
    ),
    since.default(
        "VM3315",
        option("tool-strict-level"),
        "how strictly tool arguments are held to their schema is the tool parser's own default; set auto to keep "
        "the old way",
        "entrypoints/launchers/cli_args.py:131 in 0.32.0, entrypoints/common/cli_args.py:138 in 0.33.0",
        Sets(option("tool-call-parser")),
        before="--tool-call-parser hermes --enable-auto-tool-choice",
    ),
    since.renamed(
        "VM3316",
        option("log-config-file"),
        option("logging-config", "pylogging_config_file"),
        "logging has a config of its own; the old option still works and warns",
        "engine/arg_utils.py:456-459,1666 in 0.33.0",
        "--log-config-file logging.json",
        "--logging-config.pylogging_config_file logging.json",
        nature=Nature.MOVED,
    ),
    since.meaning(
        "VM3317",
        option("structured-outputs-config", "backend"),
        "lm-format-enforcer still works and will go in 0.35: auto, xgrammar or guidance take its place",
        "config/structured_outputs.py:23-30,77-84 in 0.33.0",
        match=Is(("lm-format-enforcer",)),
        before="--structured-outputs-config.backend lm-format-enforcer",
    ),
    since.meaning(
        "VM3318",
        option("ir-op-priority"),
        "it still works and will go in 0.34",
        "engine/arg_utils.py:468-471,1837 in 0.33.0",
        before="--ir-op-priority.rms_norm native",
    ),
    since.clients(
        "VM3319",
        Nature.REQUEST,
        Room.REQUEST,
        "media",
        "all media of one request together may be 256 MB to download and 715827880 bytes decoded "
        "(VLLM_MAX_MEDIA_REQUEST_DOWNLOAD_SIZE_MB, VLLM_MAX_MEDIA_REQUEST_DECODE_BYTES)",
        "envs.py:1050-1058 in 0.33.0",
        ModelLike(VISION),
        before="Qwen/Qwen3-VL-8B-Instruct",
    ),
    since.clients(
        "VM3320",
        Nature.REQUEST,
        Room.REQUEST,
        "skip_special_tokens",
        "a request without it follows the default sampling parameters instead of true",
        "chat_completion/protocol.py:296 in 0.33.0",
    ),
    since.clients(
        "VM3321",
        Nature.STREAM,
        Room.STREAM,
        "response.completed",
        "a Responses stream that was cut ends with response.incomplete",
        "responses/serving.py:1418-1424 in 0.32.0, :1440-1457 in 0.33.0",
    ),
    since.meaning(
        "VM3322",
        option("enable-lora"),
        "adapters with a model that does not support them, or with a mega-MoE backend, stop the start; before, "
        "they were let through",
        "config/lora.py in 0.32.0 and 0.33.0",
        before="--enable-lora",
    ),
)
