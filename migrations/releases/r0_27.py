"""0.27 (read in 0.27.1)."""

from appliance.migrations.rule import Is, Sets, env, option
from appliance.migrations.since import Since

since = Since("0.27.1")

_PREFILLS = "long prompts are not counted among the partial prefills any more; the token budget alone shares out a step"

RULES = (
    *(
        since.no_effect(
            code, option(name), "it says what the engine does anyway", evidence, f"--{name} 1", match=Is((1,))
        )
        for code, name, evidence in (
            ("VM2701", "max-num-partial-prefills", "config/scheduler.py:70 in 0.26.0"),
            ("VM2702", "max-long-partial-prefills", "config/scheduler.py:74 in 0.26.0"),
        )
    ),
    *(
        since.gone(
            code, option(name), _PREFILLS, evidence, f"--{name} 4", advice="measure the time to the first token again"
        )
        for code, name, evidence in (
            ("VM2703", "max-num-partial-prefills", "config/scheduler.py:70 in 0.26.0"),
            ("VM2704", "max-long-partial-prefills", "config/scheduler.py:74 in 0.26.0"),
        )
    ),
    since.default(
        "VM2705",
        env("VLLM_MOE_SKIP_PADDING"),
        "padding tokens are left out of the experts' work",
        "envs.py:1521 in 0.26.0, :1536 in 0.27.1",
        Sets(option("enable-expert-parallel")),
        before="--enable-expert-parallel",
    ),
)
