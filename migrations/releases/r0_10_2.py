"""0.10.2: the end of multi-step scheduling; requests are not logged any more."""

from appliance.migrations.rule import Is, Lacks, Sets, env, option
from appliance.migrations.since import Since

since = Since("0.10.2")

_ADAPTERS = "prompt adapters were removed; only LoRA adapters are left"

RULES = (
    since.no_effect(
        "VM1031",
        option("num-scheduler-steps"),
        "multi-step scheduling belonged to the old engine; the new one overlaps scheduling by itself",
        "vllm/config.py:2315 in 0.10.0",
        "--num-scheduler-steps 8",
    ),
    since.no_effect(
        "VM1032",
        option("multi-step-stream-outputs"),
        "it was a detail of multi-step scheduling",
        "vllm/config.py:2318 in 0.10.0",
        "--no-multi-step-stream-outputs",
    ),
    since.no_effect(
        "VM1033",
        option("enable-prompt-adapter"),
        _ADAPTERS,
        "engine/arg_utils.py:843 in 0.10.0 (read by nothing)",
        "--enable-prompt-adapter",
    ),
    since.renamed(
        "VM1034",
        option("override-neuron-config"),
        option("additional-config"),
        "Neuron support moved to a plugin, which takes its settings from --additional-config",
        "vllm/config.py:388 in 0.10.0",
        """--override-neuron-config '{"cast_logits_dtype": "bfloat16"}'""",
        """--additional-config '{"cast_logits_dtype": "bfloat16"}'""",
        safe=False,
    ),
    since.renamed(
        "VM1035",
        env("VLLM_USE_TRTLLM_DECODE_ATTENTION"),
        env("VLLM_USE_TRTLLM_ATTENTION"),
        "one switch covers prefill and decode",
        "envs.py:976 in 0.10.0",
        "VLLM_USE_TRTLLM_DECODE_ATTENTION=1",
        "VLLM_USE_TRTLLM_ATTENTION=1",
    ),
    *(
        since.no_effect(code, env(name), why, evidence, f"{name}=1")
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
    since.value(
        "VM1038",
        option("prefix-caching-hash-algo"),
        {"builtin": "sha256", "sha256_cbor_64bit": "sha256_cbor"},
        Is(("builtin", "sha256_cbor_64bit")),
        "Python's own hash and the shortened one are gone, since both could collide",
        "config/cache.py:67 in 0.10.2",
        "--prefix-caching-hash-algo builtin",
        "--prefix-caching-hash-algo sha256",
    ),
    since.value(
        "VM1043",
        option("tool-call-parser"),
        {"glm4_moe": "glm45"},
        Is(("glm4_moe",)),
        "the parser is named after the model",
        "entrypoints/openai/tool_parsers/glm4_moe_tool_parser.py in 0.10.0 and 0.10.2",
        "--tool-call-parser glm4_moe",
        "--tool-call-parser glm45",
    ),
    since.value(
        "VM1044",
        option("reasoning-parser"),
        {"glm4_moe": "glm45"},
        Is(("glm4_moe",)),
        "the parser is named after the model",
        "reasoning/glm4_moe_reasoning_parser.py in 0.10.0 and 0.10.2",
        "--reasoning-parser glm4_moe",
        "--reasoning-parser glm45",
    ),
    since.value(
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
    since.ask(
        "VM1046",
        option("kv-transfer-config", "kv_connector"),
        "this connector was for the old engine and is gone; the others speak other protocols",
        "distributed/kv_transfer/kv_connector/factory.py in 0.10.0 and 0.10.2",
        """--kv-transfer-config '{"kv_connector": "PyNcclConnector", "kv_role": "kv_both"}'""",
        match=Is(("PyNcclConnector", "MooncakeStoreConnector")),
        advice="set prefill and decode up anew with NixlConnector or another connector of the target release",
    ),
    since.ask(
        "VM1039",
        option("quantization"),
        "this weight format is not supported any more",
        "config/__init__.py:355 in 0.10.2, vllm/config.py:302 in 0.10.0",
        "--quantization aqlm",
        match=Is(("aqlm", "marlin", "neuron_quant", "qqq")),
        advice="use a checkpoint in another format",
    ),
    since.default(
        "VM1040",
        option("disable-log-requests"),
        "requests are not logged unless --enable-log-requests is given; before, they were unless disabled",
        "engine/arg_utils.py:1674 in 0.10.0, :1752-1785 in 0.10.2",
        Lacks(option("enable-log-requests")),
        before="--max-model-len 4096",
    ),
    since.default(
        "VM1041",
        option("prefix-caching-hash-algo"),
        "prefix blocks are hashed with sha256 instead of Python's hash: no collisions, a little more work",
        "vllm/config.py:1652 in 0.10.0, config/cache.py:67 in 0.10.2",
        Sets(option("enable-prefix-caching"), Is((True,))),
        before="--enable-prefix-caching",
    ),
    since.meaning(
        "VM1042",
        option("disable-mm-preprocessor-cache"),
        "the cache it switches off is --mm-processor-cache-gb, 4 GiB by default instead of 8",
        "envs.py:541 in 0.10.0, :616 in 0.10.2",
        before="--disable-mm-preprocessor-cache",
    ),
)
