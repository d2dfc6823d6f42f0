"""0.26.0."""

from appliance.migrations.rule import Is, IsNot, env, option
from appliance.migrations.since import Since

since = Since("0.26.0")

_THRESHOLDS = env("VLLM_FLASHINFER_ALLREDUCE_FUSION_THRESHOLDS_MB")
_LIMIT = "pass_config.fi_allreduce_fusion_max_size_mb"


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
        _THRESHOLDS,
        f"nothing read it any more; the limit is {_LIMIT}",
        "envs.py:1602 in 0.25.1",
        "VLLM_FLASHINFER_ALLREDUCE_FUSION_THRESHOLDS_MB='{}'",
        match=Is(("{}", "")),
    ),
    since.gone(
        "VM2606",
        _THRESHOLDS,
        "the sizes up to which sums are fused are not read from it any more",
        "envs.py:1602 in 0.25.1; config/compilation.py:162 in 0.32.0",
        """VLLM_FLASHINFER_ALLREDUCE_FUSION_THRESHOLDS_MB='{"8": 32}'""",
        match=IsNot(("{}", "")),
        advice=f"write the number for your count of GPUs into --compilation-config.{_LIMIT}",
    ),
    since.meaning(
        "VM2607",
        option("compilation-config", "pass_config.fuse_allreduce_rms"),
        f"the size up to which sums are fused comes from {_LIMIT} beside it; a variable "
        "VLLM_FLASHINFER_ALLREDUCE_FUSION_THRESHOLDS_MB is not read any more",
        "envs.py:1602 in 0.25.1; config/compilation.py:162 in 0.32.0",
        before="""--compilation-config '{"pass_config": {"fuse_allreduce_rms": true}}'""",
        match=Is((True,)),
    ),
)
