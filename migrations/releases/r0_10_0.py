"""0.10.0: the end of the tokenizer pool and of prompt adapters."""

from appliance.migrations.rule import Is, Lacks, Like, ModelLike, Nature, Sets, env, option
from appliance.migrations.since import Since

since = Since("0.10.0")

_ADAPTERS = "prompt adapters were removed; only LoRA adapters are left"
_POOL = "the tokenizer runs in the API server; its Ray pool was read by nothing any more"
_SCORER = "it belonged to the old engine's verifier and has no counterpart"

RULES = (
    since.no_effect(
        "VM1001",
        option("device"),
        "the engine takes the device of the platform it was built for",
        "vllm/config.py:2377 in 0.9.2 (deprecated: set automatically)",
        "--device cuda",
        match=Is(("auto", "cuda")),
    ),
    since.gone(
        "VM1002",
        option("device"),
        "the device is chosen by the build of the engine, not by an option; from 0.24 to 0.30 the word was even "
        "taken for "
        "--device-ids",
        "vllm/config.py:2377 in 0.9.2; argparse prefix matching over 0.24-0.30",
        "--device cpu",
        advice="run the image or wheel that is built for this device",
    ),
    since.no_effect(
        "VM1003",
        option("enable-reasoning"),
        "reasoning is on as soon as --reasoning-parser is given",
        "engine/arg_utils.py:626 in 0.9.2",
        "--enable-reasoning --reasoning-parser deepseek_r1",
        "--reasoning-parser deepseek_r1",
    ),
    since.no_effect(
        "VM1004",
        option("expand-tools-even-if-tool-choice-none"),
        "tools are put into the prompt even with tool_choice none; that is the default now",
        "entrypoints/openai/cli_args.py:226 in 0.9.2",
        "--expand-tools-even-if-tool-choice-none",
    ),
    since.default(
        "VM1005",
        option("expand-tools-even-if-tool-choice-none"),
        "tools are put into the prompt even with tool_choice none; --exclude-tools-when-tool-choice-none "
        "(0.10.2+) keeps them out",
        "entrypoints/openai/cli_args.py:226 in 0.9.2, :127 in 0.10.2",
        Sets(option("enable-auto-tool-choice")),
        before="--enable-auto-tool-choice --tool-call-parser hermes",
    ),
    since.no_effect(
        "VM1006",
        option("use-v2-block-manager"),
        "there is only one block manager; the flag had no effect",
        "engine/arg_utils.py:921 in 0.9.2",
        "--use-v2-block-manager",
    ),
    *(
        since.no_effect(code, option(name), _POOL, evidence, f"--{name} {value}")
        for code, name, value, evidence in (
            ("VM1007", "tokenizer-pool-size", "4", "vllm/config.py:1645 in 0.9.2"),
            ("VM1008", "tokenizer-pool-type", "ray", "vllm/config.py:1649 in 0.9.2"),
            ("VM1009", "tokenizer-pool-extra-config", "'{}'", "vllm/config.py:1653 in 0.9.2"),
        )
    ),
    since.no_effect(
        "VM1010",
        option("qlora-adapter-name-or-path"),
        "it was read by nothing; adapters are given by --lora-modules",
        "engine/arg_utils.py:598 in 0.9.2",
        "--qlora-adapter-name-or-path x",
    ),
    since.gone(
        "VM1011",
        option("long-lora-scaling-factors"),
        "adapters with an extended context are not supported any more",
        "vllm/config.py:2961 in 0.9.2",
        "--long-lora-scaling-factors 4.0",
    ),
    *(
        since.gone(code, option(name), _ADAPTERS, evidence, f"--{name} {value}")
        for code, name, value, evidence in (
            ("VM1012", "prompt-adapters", "a=b", "entrypoints/openai/cli_args.py:132 in 0.9.2"),
            ("VM1013", "max-prompt-adapters", "1", "vllm/config.py:3039 in 0.9.2"),
            ("VM1014", "max-prompt-adapter-token", "0", "vllm/config.py:3041 in 0.9.2"),
        )
    ),
    since.renamed(
        "VM1015",
        option("limit-mm-per-prompt"),
        option("limit-mm-per-prompt"),
        "the limits are one JSON text; the `image=4` form is refused",
        "engine/arg_utils.py:62 in 0.9.2 (nullable_kvs), absent in 0.10.0",
        "--limit-mm-per-prompt image=4,audio=1",
        """--limit-mm-per-prompt '{"image": 4, "audio": 1}'""",
        nature=Nature.VALUE,
        convert="modality limits",
        match=Like(r"\s*\w+\s*="),
    ),
    *(
        since.gone(
            code,
            option("speculative-config", key),
            _SCORER,
            evidence,
            f"""--speculative-config '{{"{key}": {value}}}'""",
        )
        for code, key, value, evidence in (
            ("VM1016", "acceptance_method", '"rejection_sampler"', "vllm/config.py:2460 in 0.9.2"),
            ("VM1017", "disable_mqa_scorer", "true", "vllm/config.py:2493 in 0.9.2"),
            ("VM1018", "posterior_alpha", "0.3", "vllm/config.py:2514 in 0.9.2"),
            ("VM1019", "posterior_threshold", "0.09", "vllm/config.py:2509 in 0.9.2"),
        )
    ),
    *(
        since.gone(
            code,
            option("compilation-config", f"pass_config.{key}"),
            "graphs are dumped by debug_dump_path now",
            evidence,
            f"--compilation-config.pass_config.{key} {value}",
        )
        for code, key, value, evidence in (
            ("VM1020", "dump_graph_dir", "x", "vllm/config.py:3906 in 0.9.2"),
            ("VM1021", "dump_graph_stages", "x", "vllm/config.py:3903 in 0.9.2"),
        )
    ),
    *(
        since.no_effect(code, env(name), why, evidence, f"{name}=1")
        for code, name, why, evidence in (
            ("VM1022", "VLLM_QUARK_EMU_MEM_OPT", "nothing read it any more", "envs.py:730 in 0.9.2"),
            ("VM1023", "VLLM_HPU_USE_DELAYED_SAMPLING", "Gaudi support moved to a plugin", "envs.py:797 in 0.9.2"),
            (
                "VM1024",
                "VLLM_USE_HPU_CONTIGUOUS_CACHE_FETCH",
                "Gaudi support moved to a plugin",
                "envs.py:791 in 0.9.2",
            ),
        )
    ),
    since.default(
        "VM1025",
        option("model"),
        "the model that is served when none is named is Qwen/Qwen3-0.6B instead of facebook/opt-125m",
        "vllm/config.py:233 in 0.9.2, :231 in 0.10.0",
        Lacks(option("config")),
        ModelLike(r"\A\Z"),
        before="--max-model-len 2048",
    ),
)
