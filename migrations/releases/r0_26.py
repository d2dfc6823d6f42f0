"""0.26.0."""

from appliance.migrations.rule import env
from appliance.migrations.since import Since

since = Since("0.26.0")


RULES = (
    *(
        since.no_effect(code, env(name), "nothing read it any more", evidence, f"{name}={value}")
        for code, name, value, evidence in (
            ("VM2601", "VLLM_CI_USE_S3", "1", "envs.py:1394 in 0.25.1"),
            ("VM2602", "VLLM_ROCM_USE_AITER_PAGED_ATTN", "1", "envs.py:1157 in 0.25.1"),
            ("VM2603", "VLLM_TPU_BUCKET_PADDING_GAP", "64", "envs.py:1445 in 0.25.1"),
            ("VM2604", "VLLM_TPU_MOST_MODEL_LEN", "2048", "envs.py:1450 in 0.25.1"),
        )
    ),
    since.no_effect(
        "VM2605",
        env("VLLM_FLASHINFER_ALLREDUCE_FUSION_THRESHOLDS_MB"),
        "nothing read it any more; the limit is pass_config.fi_allreduce_fusion_max_size_mb",
        "envs.py:1602 in 0.25.1",
        "VLLM_FLASHINFER_ALLREDUCE_FUSION_THRESHOLDS_MB='{}'",
    ),
)
