"""0.26 and 0.27."""

from appliance.migrations.rule import Is, Sets, env, option
from appliance.migrations.since import Since

_26 = Since("0.26.0")
_27 = Since("0.27.1")

_PREFILLS = "long prompts are not counted among the partial prefills any more; the token budget alone shares out a step"

RULES = (
    *(
        _26.no_effect(code, env(name), "nothing read it any more", evidence, f"{name}={value}")
        for code, name, value, evidence in (
            ("VM2601", "VLLM_CI_USE_S3", "1", "envs.py:1394 in 0.25.1"),
            ("VM2602", "VLLM_ROCM_USE_AITER_PAGED_ATTN", "1", "envs.py:1157 in 0.25.1"),
            ("VM2603", "VLLM_TPU_BUCKET_PADDING_GAP", "64", "envs.py:1445 in 0.25.1"),
            ("VM2604", "VLLM_TPU_MOST_MODEL_LEN", "2048", "envs.py:1450 in 0.25.1"),
        )
    ),
    _26.no_effect(
        "VM2605",
        env("VLLM_FLASHINFER_ALLREDUCE_FUSION_THRESHOLDS_MB"),
        "nothing read it any more; the limit is pass_config.fi_allreduce_fusion_max_size_mb",
        "envs.py:1602 in 0.25.1",
        "VLLM_FLASHINFER_ALLREDUCE_FUSION_THRESHOLDS_MB='{}'",
    ),
    *(
        _27.no_effect(
            code, option(name), "it says what the engine does anyway", evidence, f"--{name} 1", match=Is((1,))
        )
        for code, name, evidence in (
            ("VM2701", "max-num-partial-prefills", "config/scheduler.py:70 in 0.26.0"),
            ("VM2702", "max-long-partial-prefills", "config/scheduler.py:74 in 0.26.0"),
        )
    ),
    *(
        _27.gone(
            code, option(name), _PREFILLS, evidence, f"--{name} 4", advice="measure the time to the first token again"
        )
        for code, name, evidence in (
            ("VM2703", "max-num-partial-prefills", "config/scheduler.py:70 in 0.26.0"),
            ("VM2704", "max-long-partial-prefills", "config/scheduler.py:74 in 0.26.0"),
        )
    ),
    _27.default(
        "VM2705",
        env("VLLM_MOE_SKIP_PADDING"),
        "padding tokens are left out of the experts' work",
        "envs.py:1521 in 0.26.0, :1536 in 0.27.1",
        Sets(option("enable-expert-parallel")),
        before="--enable-expert-parallel",
    ),
)
