"""0.18 (read in 0.18.1): swap space is gone."""

from appliance.migrations.rule import Is, ModelLike, Nature, Room, Sets, env, option
from appliance.migrations.since import Since

since = Since("0.18.1")

_COMPILE = "compilation-config"

RULES = (
    since.no_effect(
        "VM1801",
        option("swap-space"),
        "the V1 engine never swapped: preempted requests are recomputed, so it did nothing but check the host's memory",
        "config/cache.py:57,235-240 in 0.17.1; entrypoints/llm.py:261-266 in 0.18.1 (deprecated and ignored)",
        "--swap-space 16",
    ),
    since.no_effect(
        "VM1802",
        option("structured-outputs-config", "disable_fallback"),
        "nothing read it: another backend is only tried under `auto`",
        "config/structured_outputs.py:26 in 0.17.1",
        """--structured-outputs-config '{"disable_fallback": true}'""",
    ),
    since.renamed(
        "VM1803",
        option(_COMPILE, "level"),
        option(_COMPILE, "mode"),
        "compilation levels are called modes; the numbers mean the same",
        "config/compilation.py:385-391,804-813 in 0.17.1",
        """--compilation-config '{"level": 3}'""",
        """--compilation-config '{"mode": 3}'""",
    ),
    since.renamed(
        "VM1804",
        option(_COMPILE, "compile_ranges_split_points"),
        option(_COMPILE, "compile_ranges_endpoints"),
        "the same ranges under another name",
        "config/compilation.py:483 in 0.17.1, :498 in 0.18.1",
        """--compilation-config '{"compile_ranges_split_points": [1024]}'""",
        """--compilation-config '{"compile_ranges_endpoints": [1024]}'""",
    ),
    since.no_effect(
        "VM1805",
        option("use-gpu-for-pooling-score"),
        "scores are computed on the GPU by default (--enable-flash-late-interaction since 0.20)",
        "entrypoints/openai/cli_args.py:281 in 0.17.1; same description in 0.20.2",
        "--use-gpu-for-pooling-score",
    ),
    *(
        since.gone(code, env(name), why, evidence, f"{name}={value}")
        for code, name, value, why, evidence in (
            (
                "VM1806",
                "VLLM_ENABLE_FUSED_MOE_ACTIVATION_CHUNKING",
                "0",
                "experts are not computed in chunks any more",
                "envs.py:830 in 0.17.1",
            ),
            (
                "VM1807",
                "VLLM_FUSED_MOE_CHUNK_SIZE",
                "16384",
                "experts are not computed in chunks any more",
                "envs.py:824 in 0.17.1",
            ),
            (
                "VM1808",
                "VLLM_SLEEP_WHEN_IDLE",
                "1",
                "workers that wait go to sleep by themselves after a while",
                "envs.py:1343 in 0.17.1",
            ),
        )
    ),
    since.default(
        "VM1809",
        option("disable-cascade-attn"),
        "cascade attention is off unless --no-disable-cascade-attn asks for it",
        "config/model.py:219 in 0.17.1 (false), :220 in 0.18.1 (true)",
        Sets(option("enable-prefix-caching"), Is((True,))),
        before="--enable-prefix-caching",
    ),
    since.clients(
        "VM1810",
        Nature.REQUEST,
        Room.REQUEST,
        "stream_options.include_usage",
        "a stream_options object without it sends no usage at the end; before, it did",
        "request models of 0.17.1 (true) and 0.18.1 (false)",
    ),
    since.default(
        "VM1811",
        option("attention-config", "disable_flashinfer_prefill"),
        "MLA models prefill without FlashInfer unless asked",
        "config/attention.py:40 in 0.17.1 (false) and 0.18.1 (true)",
        ModelLike(r"deepseek|kimi-k2"),
        before="deepseek-ai/DeepSeek-V3",
    ),
)
