"""0.13.0: --task is gone, the compiler passes have new names."""

from appliance.migrations.rule import Is, Put, env, option
from appliance.migrations.since import Since, put

since = Since("0.13.0")

_TASK = "config/model.py:98-102,525-600 in 0.12.0 (deprecated, names the successors); absent in 0.13.0"
_PASSES = "config/compilation.py:125-141 in 0.12.0 (deprecated, names the successor)"
_EMBED = (put(option("runner"), "pooling"), put(option("convert"), "embed"))
_CLASSIFY = (put(option("runner"), "pooling"), put(option("convert"), "classify"))


def _pass(old: str) -> str:
    return f"pass_config.{old}"


RULES = (
    since.no_effect(
        "VM1301",
        option("task"),
        "the engine reads from the model what it is for",
        _TASK,
        "--task generate",
        match=Is(("generate", "auto", "transcription")),
    ),
    since.puts(
        "VM1302",
        option("task"),
        _EMBED,
        "embedding is a pooling runner; a model that generates is converted. For a model that pools by itself "
        "--convert can go",
        _TASK,
        "--task embed",
        "--runner pooling --convert embed",
        match=Is(("embed", "embedding")),
        safe=False,
        advice="check one embedding against the old server",
    ),
    since.puts(
        "VM1303",
        option("task"),
        _CLASSIFY,
        "classification is a pooling runner; a model that generates is converted. For a model that classifies by "
        "itself "
        "--convert can go",
        _TASK,
        "--task classify",
        "--runner pooling --convert classify",
        match=Is(("classify",)),
        safe=False,
        advice="check one answer against the old server",
    ),
    since.puts(
        "VM1304",
        option("task"),
        (put(option("runner"), "pooling"),),
        "scores and rewards come from a pooling runner; whether the model must be converted too depends on its "
        "architecture",
        _TASK,
        "--task score",
        "--runner pooling",
        match=Is(("score", "reward")),
        safe=False,
        advice="cross-encoders need --convert classify when the model itself is a generating one",
    ),
    since.puts(
        "VM1305",
        option("task"),
        (put(option("runner"), "draft"),),
        "the runner says what the model is for",
        _TASK,
        "--task draft",
        "--runner draft",
        match=Is(("draft",)),
        safe=False,
    ),
    since.renamed(
        "VM1306",
        option("cuda-graph-sizes"),
        option("cudagraph-capture-sizes"),
        "the option has the name of the config key",
        "engine/arg_utils.py:1114-1118 in 0.11.2",
        "--cuda-graph-sizes 1 2 4",
        "--cudagraph-capture-sizes 1 2 4",
    ),
    since.puts(
        "VM1307",
        option("disable-mm-preprocessor-cache"),
        (put(option("mm-processor-cache-gb"), 0),),
        "the cache's size says whether it is on",
        "engine/arg_utils.py:1191-1199 in 0.12.0",
        "--disable-mm-preprocessor-cache",
        "--mm-processor-cache-gb 0",
        match=Is((True,)),
    ),
    since.no_effect(
        "VM1308",
        option("disable-mm-preprocessor-cache"),
        "the cache is on by default",
        "engine/arg_utils.py:1191-1199 in 0.12.0",
        "--no-disable-mm-preprocessor-cache",
    ),
    since.moved(
        "VM1309",
        env("VLLM_MM_INPUT_CACHE_GIB"),
        option("mm-processor-cache-gb"),
        "the cache's size is an option",
        "engine/arg_utils.py:1200-1208 in 0.12.0",
        "VLLM_MM_INPUT_CACHE_GIB=8",
        "--mm-processor-cache-gb 8",
    ),
    since.puts(
        "VM1310",
        option("enable-multimodal-encoder-data-parallel"),
        (put(option("mm-encoder-tp-mode"), "data"),),
        "the encoder's way of parallelism is a mode",
        "engine/arg_utils.py:1211-1219 in 0.12.0",
        "--enable-multimodal-encoder-data-parallel",
        "--mm-encoder-tp-mode data",
        match=Is((True,)),
    ),
    since.no_effect(
        "VM1311",
        option("enable-multimodal-encoder-data-parallel"),
        "it is off by default",
        "engine/arg_utils.py:1211-1219 in 0.12.0",
        "--no-enable-multimodal-encoder-data-parallel",
    ),
    *(
        since.renamed(
            code,
            option("compilation-config", _pass(old)),
            option("compilation-config", _pass(new)),
            "the compiler passes are named after what they do",
            _PASSES,
            f"""--compilation-config '{{"pass_config": {{"{old}": true}}}}'""",
            f"""--compilation-config '{{"pass_config": {{"{new}": true}}}}'""",
        )
        for code, old, new in (
            ("VM1312", "enable_attn_fusion", "fuse_attn_quant"),
            ("VM1313", "enable_fi_allreduce_fusion", "fuse_allreduce_rms"),
            ("VM1314", "enable_noop", "eliminate_noops"),
            ("VM1315", "enable_async_tp", "fuse_gemm_comms"),
            ("VM1316", "enable_sequence_parallelism", "enable_sp"),
        )
    ),
    since.puts(
        "VM1317",
        option("compilation-config", _pass("enable_fusion")),
        (
            Put(option("compilation-config", _pass("fuse_norm_quant"))),
            Put(option("compilation-config", _pass("fuse_act_quant"))),
        ),
        "one pass became two",
        _PASSES,
        """--compilation-config '{"pass_config": {"enable_fusion": true}}'""",
        """--compilation-config '{"pass_config": {"fuse_norm_quant": true, "fuse_act_quant": true}}'""",
    ),
    since.value(
        "VM1319",
        option("kv-transfer-config", "kv_connector"),
        {"SharedStorageConnector": "ExampleConnector"},
        Is(("SharedStorageConnector",)),
        "the same connector under a name that says what it is for",
        "distributed/kv_transfer/kv_connector/factory.py in 0.12.0, :147 in 0.13.0",
        """--kv-transfer-config '{"kv_connector": "SharedStorageConnector", "kv_role": "kv_both"}'""",
        """--kv-transfer-config '{"kv_connector": "ExampleConnector", "kv_role": "kv_both"}'""",
    ),
    since.no_effect(
        "VM1318",
        env("VLLM_TEST_USE_PRECOMPILED_NIGHTLY_WHEEL"),
        "a switch of the build's tests",
        "envs.py:472 in 0.12.0",
        "VLLM_TEST_USE_PRECOMPILED_NIGHTLY_WHEEL=1",
    ),
)
