"""0.9.0 to 0.9.2."""

from appliance.migrations.rule import Is, Like, Nature, Sets, env, option
from appliance.migrations.since import Since

_90 = Since("0.9.0")
_91 = Since("0.9.1")
_92 = Since("0.9.2")

RULES = (
    _90.ask(
        "VM0901",
        option("quantization"),
        "`nvfp4` is not a name of its own any more; the ModelOpt formats and compressed-tensors carry NVFP4 weights",
        "engine/arg_utils.py:600 in 0.8.5, vllm/config.py:298 in 0.9.0",
        "--quantization nvfp4",
        match=Is(("nvfp4",)),
        advice="leave --quantization out, the checkpoint says what it is; or name modelopt_fp4",
    ),
    _90.renamed(
        "VM0902",
        option("compilation-config"),
        option("compilation-config", "level"),
        "the option takes JSON only; the level is one of its keys",
        "engine/arg_utils.py:873 in 0.8.5 (from_cli), vllm/config.py:4072 in 0.9.0",
        "--compilation-config 3",
        """--compilation-config '{"level": 3}'""",
        match=Like(r"\d+\Z"),
        nature=Nature.VALUE,
        convert="number",
    ),
    _91.no_effect(
        "VM0911",
        env("VLLM_TEST_STANDALONE_COMPILE"),
        "an internal switch; its successor is VLLM_USE_STANDALONE_COMPILE, which is on by default since 0.11.1",
        "envs.py:304 in 0.9.0, envs.py:544 in 0.11.2",
        "VLLM_TEST_STANDALONE_COMPILE=1",
    ),
    _91.default(
        "VM0912",
        env("VLLM_CPU_OMP_THREADS_BIND"),
        "CPU workers bind to the cores of their NUMA node instead of to all of them",
        "envs.py:411 in 0.9.0 (all), :425 in 0.9.1 (auto)",
        Sets(env("VLLM_CPU_KVCACHE_SPACE")),
        before="VLLM_CPU_KVCACHE_SPACE=8",
    ),
    _92.no_effect(
        "VM0921",
        env("VLLM_ENABLE_MOE_ALIGN_BLOCK_SIZE_TRITON"),
        "the Triton variant of the alignment kernel has no switch any more",
        "envs.py:720 in 0.9.1, absent in 0.9.2",
        "VLLM_ENABLE_MOE_ALIGN_BLOCK_SIZE_TRITON=1",
    ),
)
