"""0.23.0."""

from appliance.migrations.rule import Is, Nature, Sets, env, option
from appliance.migrations.since import Since

since = Since("0.23.0")

_POOLER = "config/pooler.py:96-101 and __post_init__ in 0.22.1"

RULES = (
    since.renamed(
        "VM2301",
        option("pooler-config", "logit_bias"),
        option("pooler-config", "logit_mean"),
        "the pooler's scaling is named after the statistics it uses",
        _POOLER,
        """--pooler-config '{"logit_bias": 1.5}'""",
        """--pooler-config '{"logit_mean": 1.5}'""",
    ),
    since.renamed(
        "VM2302",
        option("pooler-config", "logit_scale"),
        option("pooler-config", "logit_sigma"),
        "the scale became a divisor: logit_sigma is 1 / logit_scale",
        _POOLER,
        """--pooler-config '{"logit_scale": 2.0}'""",
        """--pooler-config '{"logit_sigma": 0.5}'""",
        convert="reciprocal",
        nature=Nature.INVERTED,
    ),
    *(
        since.moved(
            code,
            env(f"VLLM_MORIIO_{name}"),
            option("kv-transfer-config", f"kv_connector_extra_config.{key}"),
            "the connector's settings stand in its own config; the variable is ignored",
            f"moriio/moriio_common.py:180-196 in 0.23.0; envs.py:{line} in 0.22.1",
            f"VLLM_MORIIO_{name}={value}",
            f"--kv-transfer-config.kv_connector_extra_config.{key} {value}",
        )
        for code, name, key, value, line in (
            ("VM2303", "CONNECTOR_READ_MODE", "read_mode", "1", 1646),
            ("VM2304", "NUM_WORKERS", "num_workers", "2", 1658),
            ("VM2305", "POST_BATCH_SIZE", "post_batch_size", "8", 1654),
            ("VM2306", "QP_PER_TRANSFER", "qp_per_transfer", "2", 1650),
        )
    ),
    since.value(
        "VM2307",
        option("all2all-backend"),
        {"mori": "mori_high_throughput"},
        Is(("mori",)),
        "`mori` became two kernels, one for throughput and one for latency",
        "config/parallel.py:174 in 0.22.1, :177 in 0.23.0",
        "--all2all-backend mori",
        "--all2all-backend mori_high_throughput",
        safe=False,
    ),
    since.ask(
        "VM2308",
        option("quantization"),
        "AWQ on CPUs has no name of its own any more",
        "config/model.py:215 in 0.22.1, :205 in 0.23.0",
        "--quantization cpu_awq",
        match=Is(("cpu_awq",)),
        advice="leave --quantization out, the checkpoint says what it is",
    ),
    since.no_effect(
        "VM2309",
        env("VLLM_RPC_TIMEOUT"),
        "nothing read it any more",
        "envs.py:1021 in 0.22.1",
        "VLLM_RPC_TIMEOUT=10000",
    ),
    since.default(
        "VM2310",
        option("eplb-config", "use_async"),
        "experts are moved in the background",
        "config/parallel.py:80 in 0.22.1 (false), :81 in 0.23.0 (true)",
        Sets(option("enable-eplb")),
        before="--enable-eplb",
    ),
)
