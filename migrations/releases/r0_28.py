"""0.28.0: scales of an fp8 KV cache come from the checkpoint only, bitsandbytes left."""

from appliance.migrations.rule import Is, env, option
from appliance.migrations.since import Since

since = Since("0.28.0")

_SCALES = "scales of the KV cache come from the checkpoint only; without them it runs at scale 1.0 and loses accuracy"
_ADVICE = "use a checkpoint with calibrated scales, or a format that scales by itself such as fp8_per_token_head"

RULES = (
    since.no_effect(
        "VM2801",
        option("calculate-kv-scales"),
        "scales come from the checkpoint, and this asks for nothing else",
        "config/cache.py:111 in 0.27.1",
        "--no-calculate-kv-scales",
        match=Is((False,)),
    ),
    since.gone(
        "VM2802",
        option("calculate-kv-scales"),
        _SCALES,
        "config/cache.py:111 in 0.27.1",
        "--calculate-kv-scales",
        advice=_ADVICE,
    ),
    *(
        since.gone(code, env(name), _SCALES, f"envs.py:{line} in 0.27.1", f"{name}=200", advice=_ADVICE)
        for code, name, line in (
            ("VM2803", "K_SCALE_CONSTANT", 1335),
            ("VM2804", "Q_SCALE_CONSTANT", 1333),
            ("VM2805", "V_SCALE_CONSTANT", 1337),
        )
    ),
    since.gone(
        "VM2806",
        option("override-attention-dtype"),
        "attention runs in the dtype of the model",
        "config/model.py:348 in 0.27.1",
        "--override-attention-dtype float16",
    ),
    since.gone(
        "VM2807",
        env("VLLM_CPU_SGL_KERNEL"),
        "SGL kernels are used on CPUs wherever the shape allows",
        "envs.py:873 in 0.27.1",
        "VLLM_CPU_SGL_KERNEL=1",
    ),
    since.renamed(
        "VM2808",
        env("AITER_SITUV2_A8W4"),
        env("VLLM_ROCM_USE_AITER_MOE_SITUV2_A8W4"),
        "the variable has a prefix now",
        "envs.py:1218 in 0.27.1, :1269 in 0.28.0",
        "AITER_SITUV2_A8W4=1",
        "VLLM_ROCM_USE_AITER_MOE_SITUV2_A8W4=1",
    ),
    *(
        since.ask(
            code,
            option(name),
            "bitsandbytes weights are not read by the engine itself any more",
            evidence,
            f"--{name} bitsandbytes",
            match=Is(("bitsandbytes",)),
            advice="use another format, or the plugin that brings bitsandbytes back",
        )
        for code, name, evidence in (
            ("VM2809", "quantization", "config/model.py:223 in 0.27.1, :224 in 0.28.0"),
            ("VM2810", "load-format", "config/load.py:30 in 0.27.1 and 0.28.0"),
        )
    ),
)
