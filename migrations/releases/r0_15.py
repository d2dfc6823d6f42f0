"""0.15 (read in 0.15.1): the attention variables became options."""

from appliance.migrations.rule import Is, Lacks, Sets, env, option
from appliance.migrations.since import Since

since = Since("0.15.1")

_ATTENTION = "attention is configured by options; the variable does nothing any more"
_EVIDENCE = (
    "config/attention.py:72-115 in 0.13.0 and 0.14.1 (deprecated, read into this field); absent from envs.py in 0.15.1"
)

RULES = (
    since.moved(
        "VM1501",
        env("VLLM_ATTENTION_BACKEND"),
        option("attention-backend"),
        "the attention backend is an option; the variable is ignored without an error, so the engine picks "
        "another backend",
        f"{_EVIDENCE}; envs.py:687 in 0.14.1",
        "VLLM_ATTENTION_BACKEND=FLASHINFER",
        "--attention-backend FLASHINFER",
    ),
    *(
        since.moved(
            code,
            env(name),
            option("attention-config", key),
            _ATTENTION,
            f"{_EVIDENCE}; envs.py:{line} in 0.14.1",
            f"{name}={value}",
            f"--attention-config.{key} {written}",
        )
        for code, name, key, value, written, line in (
            ("VM1502", "VLLM_FLASH_ATTN_VERSION", "flash_attn_version", "3", "3", 577),
            ("VM1503", "VLLM_USE_TRTLLM_ATTENTION", "use_trtllm_attention", "1", "true", 1425),
            (
                "VM1504",
                "VLLM_FLASH_ATTN_MAX_NUM_SPLITS_FOR_CUDA_GRAPH",
                "flash_attn_max_num_splits_for_cuda_graph",
                "32",
                "32",
                1078,
            ),
            ("VM1505", "VLLM_USE_CUDNN_PREFILL", "use_cudnn_prefill", "1", "true", 1415),
            (
                "VM1506",
                "VLLM_USE_TRTLLM_RAGGED_DEEPSEEK_PREFILL",
                "use_trtllm_ragged_deepseek_prefill",
                "1",
                "true",
                1419,
            ),
            ("VM1507", "VLLM_DISABLE_FLASHINFER_PREFILL", "disable_flashinfer_prefill", "1", "true", 638),
            (
                "VM1508",
                "VLLM_FLASHINFER_DISABLE_Q_QUANTIZATION",
                "disable_flashinfer_q_quantization",
                "1",
                "true",
                1431,
            ),
            (
                "VM1509",
                "VLLM_V1_USE_PREFILL_DECODE_ATTENTION",
                "use_prefill_decode_attention",
                "1",
                "true",
                571,
            ),
        )
    ),
    since.value(
        "VM1512",
        option("quantization"),
        {"auto-round": "inc"},
        Is(("auto-round",)),
        "AutoRound checkpoints are read by the INC code",
        "layers/quantization/__init__.py:177 in 0.14.1, :163-164 in 0.15.1",
        "--quantization auto-round",
        "--quantization inc",
    ),
    since.ask(
        "VM1510",
        option("quantization"),
        "this weight format is not supported any more",
        "config/model.py:189 in 0.14.1 and 0.15.1",
        "--quantization hqq",
        match=Is(("deepspeedfp", "hqq", "rtn")),
        advice="use a checkpoint in another format",
    ),
    since.default(
        "VM1511",
        option("api-server-count"),
        "as many API servers run as data-parallel replicas, instead of one",
        "entrypoints/openai/cli_args.py:282 in 0.14.1, :285 in 0.15.1",
        Sets(option("data-parallel-size")),
        Lacks(option("headless")),
        before="--data-parallel-size 4",
    ),
)
