"""0.29.0."""

from appliance.migrations.rule import Sets, env, option
from appliance.migrations.since import Since

since = Since("0.29.0")

RULES = (
    *(
        since.gone(code, env(name), why, evidence, f"{name}=1")
        for code, name, why, evidence in (
            (
                "VM2901",
                "VLLM_ROCM_USE_AITER_FP4_ASM_GEMM",
                "the switch for AITER's assembly kernel is gone; it came back in a later release",
                "envs.py:1313 in 0.28.0",
            ),
            (
                "VM2902",
                "VLLM_TEST_FORCE_FP8_MARLIN",
                "kernels for linear layers are chosen by --linear-backend",
                "envs.py:1097 in 0.28.0",
            ),
        )
    ),
    since.renamed(
        "VM2903",
        env("VLLM_TRITON_ATTN_USE_TD"),
        env("VLLM_TRITON_USE_TD"),
        "the switch covers more than attention",
        "envs.py:643 in 0.28.0",
        "VLLM_TRITON_ATTN_USE_TD=1",
        "VLLM_TRITON_USE_TD=1",
    ),
    since.no_effect(
        "VM2904",
        option("attention-config", "use_prefill_decode_attention"),
        "nothing read it since 0.20; the ROCm backend is chosen by --attention-backend",
        "config/attention.py:45 in 0.28.0; last reader platforms/rocm.py in 0.18.1",
        """--attention-config '{"use_prefill_decode_attention": true}'""",
    ),
    since.default(
        "VM2905",
        env("VLLM_ALLREDUCE_USE_FLASHINFER"),
        "tensor-parallel sums use FlashInfer's kernels where they are installed",
        "envs.py:1864 in 0.28.0 (false) and 0.29.0 (true)",
        Sets(option("tensor-parallel-size")),
        before="--tensor-parallel-size 4",
    ),
)
