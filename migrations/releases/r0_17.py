"""0.17 (read in 0.17.1)."""

from appliance.migrations.rule import Is, Nature, Room, Sets, env, option
from appliance.migrations.since import Since

since = Since("0.17.1")

_LOGS = "engine/arg_utils.py:1752-1785 in 0.10.2 (off by default from then on), :2087 in 0.16.0"

RULES = (
    since.no_effect(
        "VM1701",
        option("disable-log-requests"),
        "requests are not logged unless --enable-log-requests asks for it",
        _LOGS,
        "--disable-log-requests",
        match=Is((True,)),
    ),
    since.renamed(
        "VM1702",
        option("disable-log-requests"),
        option("enable-log-requests"),
        "the switch was turned round",
        _LOGS,
        "--no-disable-log-requests",
        "--enable-log-requests",
        nature=Nature.INVERTED,
        convert="negated",
    ),
    since.gone(
        "VM1703",
        option("logits-processor-pattern"),
        "requests cannot bring logits processors of their own any more; the server loads classes with "
        "--logits-processors",
        "config/model.py:255 in 0.16.0",
        "--logits-processor-pattern 'my.module.*'",
        advice="port the processor to a class and name it in --logits-processors",
    ),
    since.gone(
        "VM1704",
        option("speculative-config", "disable_by_batch_size"),
        "speculation is not switched off by batch size any more",
        "config/speculative.py:102 in 0.16.0",
        """--speculative-config '{"disable_by_batch_size": 8}'""",
        advice="compare throughput at high load with and without speculation",
    ),
    since.default(
        "VM1705",
        option("kv-transfer-config", "kv_load_failure_policy"),
        "a request fails when its KV blocks cannot be loaded; before, they were recomputed",
        "config/kv_transfer.py:64 in 0.16.0 (recompute), in 0.17.1 (fail)",
        Sets(option("kv-transfer-config")),
        before="""--kv-transfer-config '{"kv_role": "kv_both"}'""",
    ),
    since.default(
        "VM1706",
        env("VLLM_BLOCKSCALE_FP8_GEMM_FLASHINFER"),
        "block-scaled FP8 products use FlashInfer where it is installed",
        "envs.py:1171 in 0.16.0, :1212 in 0.17.1",
        Sets(option("quantization"), Is(("fp8",))),
        before="--quantization fp8",
    ),
    since.meaning(
        "VM1707",
        option("override-generation-config", "max_new_tokens"),
        "it is only the default for requests that name no limit; until 0.16 it was a hard cap",
        "entrypoints/utils.py in 0.16.0 and 0.17.1",
        before="""--override-generation-config '{"max_new_tokens": 512}'""",
    ),
    since.clients(
        "VM1709",
        Nature.REQUEST,
        Room.REQUEST,
        "logits_processors",
        "the field is ignored: requests cannot bring logits processors any more",
        "request models of 0.16.0 and 0.17.1",
        Sets(option("logits-processor-pattern")),
        before="--logits-processor-pattern 'my.module.*'",
    ),
)
