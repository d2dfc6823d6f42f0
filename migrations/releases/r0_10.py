"""0.10.0 and 0.10.2: the end of the tokenizer pool, of prompt adapters and of multi-step scheduling."""

from appliance.migrations.rule import Is, Lacks, Like, ModelLike, Nature, Sets, env, option
from appliance.migrations.since import Since

_100 = Since("0.10.0")
_102 = Since("0.10.2")

_ADAPTERS = "prompt adapters were removed; only LoRA adapters are left"
_POOL = "the tokenizer runs in the API server; its Ray pool was read by nothing any more"
_SCORER = "it belonged to the old engine's verifier and has no counterpart"

RULES = (
    _100.no_effect(
        "VM1001",
        option("device"),
        "the engine takes the device of the platform it was built for",
        "vllm/config.py:2377 in 0.9.2 (deprecated: set automatically)",
        "--device cuda",
        match=Is(("auto", "cuda")),
    ),
    _100.gone(
        "VM1002",
        option("device"),
        "the device is chosen by the build of the engine, not by an option; from 0.24 to 0.30 the word was even "
        "taken for "
        "--device-ids",
        "vllm/config.py:2377 in 0.9.2; argparse prefix matching over 0.24-0.30",
        "--device cpu",
        advice="run the image or wheel that is built for this device",
    ),
    _100.no_effect(
        "VM1003",
        option("enable-reasoning"),
        "reasoning is on as soon as --reasoning-parser is given",
        "engine/arg_utils.py:626 in 0.9.2",
        "--enable-reasoning --reasoning-parser deepseek_r1",
        "--reasoning-parser deepseek_r1",
    ),
    _100.no_effect(
        "VM1004",
        option("expand-tools-even-if-tool-choice-none"),
        "tools are put into the prompt even with tool_choice none; that is the default now",
        "entrypoints/openai/cli_args.py:226 in 0.9.2",
        "--expand-tools-even-if-tool-choice-none",
    ),
    _100.default(
        "VM1005",
        option("expand-tools-even-if-tool-choice-none"),
        "tools are put into the prompt even with tool_choice none; --exclude-tools-when-tool-choice-none "
        "(0.10.2+) keeps them out",
        "entrypoints/openai/cli_args.py:226 in 0.9.2, :127 in 0.10.2",
        Sets(option("enable-auto-tool-choice")),
        before="--enable-auto-tool-choice --tool-call-parser hermes",
    ),
    _100.no_effect(
        "VM1006",
        option("use-v2-block-manager"),
        "there is only one block manager; the flag had no effect",
        "engine/arg_utils.py:921 in 0.9.2",
        "--use-v2-block-manager",
    ),
    *(
        _100.no_effect(code, option(name), _POOL, evidence, f"--{name} {value}")
        for code, name, value, evidence in (
            ("VM1007", "tokenizer-pool-size", "4", "vllm/config.py:1645 in 0.9.2"),
            ("VM1008", "tokenizer-pool-type", "ray", "vllm/config.py:1649 in 0.9.2"),
            ("VM1009", "tokenizer-pool-extra-config", "'{}'", "vllm/config.py:1653 in 0.9.2"),
        )
    ),
    _100.no_effect(
        "VM1010",
        option("qlora-adapter-name-or-path"),
        "it was read by nothing; adapters are given by --lora-modules",
        "engine/arg_utils.py:598 in 0.9.2",
        "--qlora-adapter-name-or-path x",
    ),
    _100.gone(
        "VM1011",
        option("long-lora-scaling-factors"),
        "adapters with an extended context are not supported any more",
        "vllm/config.py:2961 in 0.9.2",
        "--long-lora-scaling-factors 4.0",
    ),
    *(
        _100.gone(code, option(name), _ADAPTERS, evidence, f"--{name} {value}")
        for code, name, value, evidence in (
            ("VM1012", "prompt-adapters", "a=b", "entrypoints/openai/cli_args.py:132 in 0.9.2"),
            ("VM1013", "max-prompt-adapters", "1", "vllm/config.py:3039 in 0.9.2"),
            ("VM1014", "max-prompt-adapter-token", "0", "vllm/config.py:3041 in 0.9.2"),
        )
    ),
    _100.renamed(
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
        _100.gone(
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
        _100.gone(
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
        _100.no_effect(code, env(name), why, evidence, f"{name}=1")
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
    _100.default(
        "VM1025",
        option("model"),
        "the model that is served when none is named is Qwen/Qwen3-0.6B instead of facebook/opt-125m",
        "vllm/config.py:233 in 0.9.2, :231 in 0.10.0",
        Lacks(option("config")),
        ModelLike(r"\A\Z"),
        before="--max-model-len 2048",
    ),
    _102.no_effect(
        "VM1031",
        option("num-scheduler-steps"),
        "multi-step scheduling belonged to the old engine; the new one overlaps scheduling by itself",
        "vllm/config.py:2315 in 0.10.0",
        "--num-scheduler-steps 8",
    ),
    _102.no_effect(
        "VM1032",
        option("multi-step-stream-outputs"),
        "it was a detail of multi-step scheduling",
        "vllm/config.py:2318 in 0.10.0",
        "--no-multi-step-stream-outputs",
    ),
    _102.no_effect(
        "VM1033",
        option("enable-prompt-adapter"),
        _ADAPTERS,
        "engine/arg_utils.py:843 in 0.10.0 (read by nothing)",
        "--enable-prompt-adapter",
    ),
    _102.renamed(
        "VM1034",
        option("override-neuron-config"),
        option("additional-config"),
        "Neuron support moved to a plugin, which takes its settings from --additional-config",
        "vllm/config.py:388 in 0.10.0",
        """--override-neuron-config '{"cast_logits_dtype": "bfloat16"}'""",
        """--additional-config '{"cast_logits_dtype": "bfloat16"}'""",
        safe=False,
    ),
    _102.renamed(
        "VM1035",
        env("VLLM_USE_TRTLLM_DECODE_ATTENTION"),
        env("VLLM_USE_TRTLLM_ATTENTION"),
        "one switch covers prefill and decode",
        "envs.py:976 in 0.10.0",
        "VLLM_USE_TRTLLM_DECODE_ATTENTION=1",
        "VLLM_USE_TRTLLM_ATTENTION=1",
    ),
    *(
        _102.no_effect(code, env(name), why, evidence, f"{name}=1")
        for code, name, why, evidence in (
            ("VM1036", "VLLM_NO_DEPRECATION_WARNING", "nothing read it any more", "envs.py:570 in 0.10.0"),
            (
                "VM1037",
                "VLLM_FLASHINFER_FORCE_TENSOR_CORES",
                "the engine decides by the shape of the attention",
                "envs.py:427 in 0.10.0",
            ),
        )
    ),
    _102.value(
        "VM1038",
        option("prefix-caching-hash-algo"),
        {"builtin": "sha256", "sha256_cbor_64bit": "sha256_cbor"},
        Is(("builtin", "sha256_cbor_64bit")),
        "Python's own hash and the shortened one are gone, since both could collide",
        "config/cache.py:67 in 0.10.2",
        "--prefix-caching-hash-algo builtin",
        "--prefix-caching-hash-algo sha256",
    ),
    _102.value(
        "VM1043",
        option("tool-call-parser"),
        {"glm4_moe": "glm45"},
        Is(("glm4_moe",)),
        "the parser is named after the model",
        "entrypoints/openai/tool_parsers/glm4_moe_tool_parser.py in 0.10.0 and 0.10.2",
        "--tool-call-parser glm4_moe",
        "--tool-call-parser glm45",
    ),
    _102.value(
        "VM1044",
        option("reasoning-parser"),
        {"glm4_moe": "glm45"},
        Is(("glm4_moe",)),
        "the parser is named after the model",
        "reasoning/glm4_moe_reasoning_parser.py in 0.10.0 and 0.10.2",
        "--reasoning-parser glm4_moe",
        "--reasoning-parser glm45",
    ),
    _102.value(
        "VM1045",
        option("kv-transfer-config", "kv_connector"),
        {"LMCacheConnector": "LMCacheConnectorV1"},
        Is(("LMCacheConnector",)),
        "the connector for the old engine is gone, the one for the new engine has a name of its own",
        "distributed/kv_transfer/kv_connector/factory.py in 0.10.0 and 0.10.2",
        """--kv-transfer-config '{"kv_connector": "LMCacheConnector", "kv_role": "kv_both"}'""",
        """--kv-transfer-config '{"kv_connector": "LMCacheConnectorV1", "kv_role": "kv_both"}'""",
        safe=False,
    ),
    _102.ask(
        "VM1046",
        option("kv-transfer-config", "kv_connector"),
        "this connector was for the old engine and is gone; the others speak other protocols",
        "distributed/kv_transfer/kv_connector/factory.py in 0.10.0 and 0.10.2",
        """--kv-transfer-config '{"kv_connector": "PyNcclConnector", "kv_role": "kv_both"}'""",
        match=Is(("PyNcclConnector", "MooncakeStoreConnector")),
        advice="set prefill and decode up anew with NixlConnector or another connector of the target release",
    ),
    _102.ask(
        "VM1039",
        option("quantization"),
        "this weight format is not supported any more",
        "config/__init__.py:355 in 0.10.2, vllm/config.py:302 in 0.10.0",
        "--quantization aqlm",
        match=Is(("aqlm", "marlin", "neuron_quant", "qqq")),
        advice="use a checkpoint in another format",
    ),
    _102.default(
        "VM1040",
        option("disable-log-requests"),
        "requests are not logged unless --enable-log-requests is given; before, they were unless disabled",
        "engine/arg_utils.py:1674 in 0.10.0, :1752-1785 in 0.10.2",
        Lacks(option("enable-log-requests")),
        before="--max-model-len 4096",
    ),
    _102.default(
        "VM1041",
        option("prefix-caching-hash-algo"),
        "prefix blocks are hashed with sha256 instead of Python's hash: no collisions, a little more work",
        "vllm/config.py:1652 in 0.10.0, config/cache.py:67 in 0.10.2",
        Sets(option("enable-prefix-caching"), Is((True,))),
        before="--enable-prefix-caching",
    ),
    _102.meaning(
        "VM1042",
        option("disable-mm-preprocessor-cache"),
        "the cache it switches off is --mm-processor-cache-gb, 4 GiB by default instead of 8",
        "envs.py:541 in 0.10.0, :616 in 0.10.2",
        before="--disable-mm-preprocessor-cache",
    ),
)
