"""0.12.0: guided decoding and EPLB flags became nested, `-O` changed its meaning."""

from appliance.migrations.rule import Is, Lacks, Like, Nature, Put, Room, Sets, env, option
from appliance.migrations.since import Since, put

since = Since("0.12.0")

_GUIDED = "guided decoding is configured by --structured-outputs-config"
_BACKEND = option("structured-outputs-config", "backend")
_NAMED = "config/structured_outputs.py:82-86 in 0.11.2, :62-71 in 0.32.0"
_EPLB = "the load balancer's settings are keys of --eplb-config"

RULES = (
    *(
        since.moved(
            code,
            option(f"guided-decoding-{flag}"),
            option("structured-outputs-config", flag.replace("-", "_")),
            _GUIDED,
            "engine/arg_utils.py:630-641 in 0.11.0 (deprecated), :735 in 0.11.2",
            before,
            after,
        )
        for code, flag, before, after in (
            (
                "VM1201",
                "backend",
                "--guided-decoding-backend xgrammar",
                "--structured-outputs-config.backend xgrammar",
            ),
            (
                "VM1203",
                "disable-any-whitespace",
                "--guided-decoding-backend guidance --guided-decoding-disable-any-whitespace",
                """--structured-outputs-config '{"backend": "guidance", "disable_any_whitespace": true}'""",
            ),
            (
                "VM1204",
                "disable-additional-properties",
                "--guided-decoding-backend guidance --guided-decoding-disable-additional-properties",
                """--structured-outputs-config '{"backend": "guidance", "disable_additional_properties": true}'""",
            ),
        )
    ),
    *(
        since.puts(
            code,
            _BACKEND,
            (put(_BACKEND, backend),),
            f"{key} is refused unless the backend is named",
            _NAMED,
            f"""--structured-outputs-config '{{"backend": "auto", "{key}": true}}'""",
            f"""--structured-outputs-config '{{"backend": "{backend}", "{key}": true}}'""",
            match=Is(("auto",)),
            safe=False,
            nature=Nature.VALUE,
            touches=(Sets(option("structured-outputs-config", key), Is((True,))),),
        )
        for code, key, backend in (
            ("VM1224", "disable_additional_properties", "guidance"),
            ("VM1225", "disable_any_whitespace", "xgrammar"),
        )
    ),
    *(
        since.puts(
            code,
            option("structured-outputs-config", key),
            (Put(option("structured-outputs-config", key)), put(_BACKEND, backend)),
            f"{key} is refused unless the backend is named",
            _NAMED,
            f"""--structured-outputs-config '{{"{key}": true}}'""",
            f"""--structured-outputs-config '{{"{key}": true, "backend": "{backend}"}}'""",
            match=Is((True,)),
            safe=False,
            touches=(Lacks(_BACKEND),),
        )
        for code, key, backend in (
            ("VM1226", "disable_additional_properties", "guidance"),
            ("VM1227", "disable_any_whitespace", "xgrammar"),
        )
    ),
    since.no_effect(
        "VM1202",
        option("guided-decoding-disable-fallback"),
        "the engine never falls back to another backend without being asked (`auto` asks)",
        "engine/arg_utils.py:735 in 0.11.2; config/structured_outputs.py:26 in 0.17.1 (read by nothing)",
        "--guided-decoding-disable-fallback",
    ),
    *(
        since.moved(
            code,
            option(flag),
            option("eplb-config", key),
            _EPLB,
            "config/parallel.py:105-117 in 0.10.2, engine/arg_utils.py:849-867 in 0.11.2",
            f"--{flag} {value}".rstrip(),
            f"--eplb-config.{key} {value or 'true'}",
        )
        for code, flag, key, value in (
            ("VM1205", "num-redundant-experts", "num_redundant_experts", "32"),
            ("VM1206", "eplb-window-size", "window_size", "1000"),
            ("VM1207", "eplb-step-interval", "step_interval", "3000"),
            ("VM1208", "eplb-log-balancedness", "log_balancedness", ""),
        )
    ),
    since.renamed(
        "VM1209",
        option("override-pooler-config"),
        option("pooler-config"),
        "the option lost its prefix",
        "config/model.py:290 in 0.11.2 (deprecated)",
        """--override-pooler-config '{"pooling_type": "MEAN"}'""",
        """--pooler-config '{"pooling_type": "MEAN"}'""",
    ),
    since.renamed(
        "VM1210",
        option("O"),
        option("compilation-config"),
        "-O stands for an optimisation level now; compilation settings are -cc or --compilation-config",
        "utils/argparse_utils.py:255-267 in 0.11.2, :247-269 in 0.12.0",
        "-O.level=3",
        "--compilation-config.level 3",
        match=Like(r"\s*\{"),
        alias=True,
    ),
    since.meaning(
        "VM1211",
        option("O"),
        "-O3 was compilation level 3; it is optimisation level 3 now, which trades start-up time for speed; "
        "the old meaning is the default (compilation mode 3)",
        "utils/argparse_utils.py:255-267 in 0.11.2; config/vllm.py optimization_level in 0.12.0",
        match=Like(r"\d"),
        before="-O3",
    ),
    since.renamed(
        "VM1212",
        option("compilation-config", "use_inductor"),
        option("compilation-config", "backend"),
        "the compiler's backend is named",
        "config/compilation.py:330-346 in 0.11.2",
        """--compilation-config '{"use_inductor": false}'""",
        """--compilation-config '{"backend": "eager"}'""",
        values={True: "inductor", False: "eager"},
    ),
    since.gone(
        "VM1213",
        option("lora-extra-vocab-size"),
        "adapters that add tokens to the vocabulary are not supported any more",
        "config/lora.py:49 in 0.11.2",
        "--lora-extra-vocab-size 256",
        advice="merge such an adapter into its model",
    ),
    since.no_effect(
        "VM1214",
        option("num-lookahead-slots"),
        "the scheduler reserves what speculation needs by itself",
        "config/scheduler.py:65 in 0.11.2",
        "--num-lookahead-slots 4",
    ),
    *(
        since.gone(code, env(name), why, evidence, f"{name}=1")
        for code, name, why, evidence in (
            ("VM1215", "VLLM_CPU_MOE_PREPACK", "the switch belonged to IPEX's expert layers", "envs.py:672 in 0.11.2"),
            (
                "VM1216",
                "VLLM_FLAT_LOGPROBS",
                "each request asks for flat log-probabilities itself",
                "envs.py:1506 in 0.11.2",
            ),
        )
    ),
    since.ask(
        "VM1217",
        option("tokenizer-mode"),
        "custom tokenizers are registered under a name of their own",
        "config/model.py:129 in 0.11.2, :140 in 0.12.0",
        "--tokenizer-mode custom",
        match=Is(("custom",)),
        advice="name the registered tokenizer",
    ),
    since.gone(
        "VM1218",
        option("mm-encoder-attn-backend"),
        "the xFormers backend is gone; the engine chooses one that fits",
        "config/multimodal.py:128 in 0.11.2, :124 in 0.12.0",
        "--mm-encoder-attn-backend XFORMERS",
        match=Is(("XFORMERS",)),
        advice="name another backend only if you measured it",
    ),
    since.gone(
        "VM1223",
        env("VLLM_ATTENTION_BACKEND"),
        "the xFormers backend is gone; the engine chooses one that fits",
        "config/multimodal.py:128 in 0.11.2, :124 in 0.12.0 (AttentionBackendEnum)",
        "VLLM_ATTENTION_BACKEND=XFORMERS",
        match=Is(("XFORMERS",)),
        advice="name another backend only if you measured it",
    ),
    since.default(
        "VM1228",
        env("VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS"),
        "AITER computes shared experts apart from the others; 1 keeps the old way",
        "envs.py:952 in 0.11.2 (true), :987 in 0.12.0 (false)",
        Sets(env("VLLM_ROCM_USE_AITER"), Is((True,))),
        before="VLLM_ROCM_USE_AITER=1",
    ),
    since.default(
        "VM1219",
        option("seed"),
        "the seed is 0 instead of random: equal requests without a seed of their own give equal samples after a "
        "restart",
        "config/model.py:147 in 0.11.2 (none), :159 in 0.12.0 (0)",
        before="--max-model-len 4096",
    ),
    since.clients(
        "VM1220",
        Nature.REQUEST,
        Room.REQUEST,
        "guided_json, guided_regex, guided_choice, guided_grammar, guided_decoding_backend",
        "these fields are ignored without an error, so the answer is unconstrained; clients must send "
        "structured_outputs "
        "or response_format",
        "openai/protocol.py:544-600 in 0.11.0; :87-116,635 in 0.12.0",
    ),
    since.clients(
        "VM1221",
        Nature.METRIC,
        Room.METRIC,
        "vllm:gpu_cache_usage_perc, vllm:gpu_prefix_cache_*",
        "they are called vllm:kv_cache_usage_perc and vllm:prefix_cache_* now; dashboards and autoscalers go blind",
        "v1/metrics/loggers.py:450 in 0.11.2",
    ),
    since.clients(
        "VM1222",
        Nature.REQUEST,
        Room.REQUEST,
        "parallel_tool_calls",
        "a request without it may get several tool calls at once: its default is true",
        "request models of 0.11.2 and 0.12.0",
        Sets(option("enable-auto-tool-choice")),
        before="--enable-auto-tool-choice --tool-call-parser hermes",
    ),
)
